// SONDE_CHECK aborts the process if an invariant of its own code is broken. Bad input is an Error
// instead. Any thread; not for code in a traced process.
#pragma once

#include <cstdio>
#include <cstdlib>

#define SONDE_CHECK(condition)                                                              \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      std::fprintf(                                                                         \
          stderr, "sonde: broken invariant: %s (%s:%d)\n", #condition, __FILE__, __LINE__); \
      std::abort();                                                                         \
    }                                                                                       \
  } while (false)
