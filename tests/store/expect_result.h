// Assertions about Results: the value of a good one, or a test failure that shows the error.
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
