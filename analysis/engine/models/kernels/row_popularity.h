// How often the rows of a table are looked up, where few rows take most lookups. Plain functions;
// any thread.
#pragma once

#include <cstdint>

namespace sonde::engine::models {

// Zipf's law: the k-th most popular of `rows` rows takes a share of lookups in proportion to
// k^-skew. 0: all rows take the same.
struct RowPopularity {
  std::int64_t rows = 0;
  double skew = 0;
};

// The share of lookups that the `first` most popular rows take, from 0 to 1.
double shareOfFirst(const RowPopularity& of, double first);
// How many of the `first` most popular rows occur in so many lookups, expected: a row of share p
// occurs with 1 − (1 − p)^lookups. Right to 1 %.
double occurringOfFirst(const RowPopularity& of, double first, double lookups);

}  // namespace sonde::engine::models
