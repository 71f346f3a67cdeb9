#include "analysis/engine/models/kernels/row_popularity.h"

#include <algorithm>
#include <cmath>

namespace sonde::engine::models {
namespace {

constexpr double kExact = 1000;  // rows that are added one by one

// The sum of k^-skew from `from` + 1 to `to`, as an integral between the middles.
double tail(double skew, double from, double to) {
  const double low = from + 0.5;
  const double high = to + 0.5;
  if (skew == 1)
    return std::log(high / low);
  return (std::pow(high, 1 - skew) - std::pow(low, 1 - skew)) / (1 - skew);
}

// The sum of k^-skew over the `first` most popular rows.
double weight(double skew, double first) {
  double sum = 0;
  for (double k = 1; k <= std::min(first, kExact); ++k)
    sum += std::pow(k, -skew);
  return first > kExact ? sum + tail(skew, kExact, first) : sum;
}

}  // namespace

double shareOfFirst(const RowPopularity& of, double first) {
  const auto rows = static_cast<double>(of.rows);
  if (rows <= 0 || first <= 0)
    return 0;
  if (first >= rows)
    return 1;
  return of.skew == 0 ? first / rows : weight(of.skew, first) / weight(of.skew, rows);
}

double occurringOfFirst(const RowPopularity& of, double first, double lookups) {
  const auto rows = static_cast<double>(of.rows);
  const double last = std::min(first, rows);
  if (last <= 0 || lookups <= 0)
    return 0;
  const auto occurs = [&](double share) {
    return -std::expm1(lookups * std::log1p(-std::min(share, 1 - 1e-12)));
  };
  if (of.skew == 0)
    return last * occurs(1 / rows);
  const double all = weight(of.skew, rows);
  double sum = 0;
  double k = 1;
  for (; k <= std::min(last, kExact); ++k)
    sum += occurs(std::pow(k, -of.skew) / all);
  // Further rows by stretches, in which shares differ little.
  for (double from = k - 1; from < last;) {
    const double to = std::min(last, from * 1.01);
    sum += (to - from) * occurs(std::pow((from + to + 1) / 2, -of.skew) / all);
    from = to;
  }
  return sum;
}

}  // namespace sonde::engine::models
