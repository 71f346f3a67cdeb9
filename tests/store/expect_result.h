// Assertions about Results: return the value, or fail the test and print the error.
#pragma once

#include <gtest/gtest.h>

#define ASSERT_GOOD(expression)                                     \
  do {                                                              \
    if (const auto& sondeResult = (expression); !sondeResult)       \
      FAIL() << #expression << ": " << sondeResult.error().message; \
  } while (false)

#define ASSERT_GOOD_ASSIGN(lhs, expression) \
  ASSERT_GOOD_ASSIGN_INNER(SONDE_CONCAT(goodResult, __LINE__), lhs, expression)
#define ASSERT_GOOD_ASSIGN_INNER(result, lhs, expression)    \
  auto result = (expression);                                \
  if (!result)                                               \
    FAIL() << #expression << ": " << result.error().message; \
  lhs = *std::move(result)
