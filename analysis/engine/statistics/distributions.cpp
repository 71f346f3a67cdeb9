#include "analysis/engine/statistics/distributions.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace sonde::engine::statistics {
namespace {

// With more degrees, Student's t equals the normal distribution to 1e-9.
constexpr double kManyDegrees = 1e9;

// std::lgamma writes a global that other threads may also write.
double logGamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// The continued fraction of I_x(a, b): Abramowitz and Stegun, 26.5.8, by Lentz's method with
// Thompson and Barnett's guard against zero (J. Comput. Phys. 64, 1986). Converges fast for x below
// (a + 1) / (a + b + 2).
double betaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostTerms = 100'000;  // about the root of a or b
  const auto guarded = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / guarded(1 - (a + b) * x / (a + 1));
  double value = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / guarded(1 + even * d);
    c = guarded(1 + even / c);
    value *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / guarded(1 + odd * d);
    c = guarded(1 + odd / c);
    value *= d * c;
    if (std::abs(d * c - 1) < std::numeric_limits<double>::epsilon())
      break;
  }
  return value;
}

// The largest t for which `above(t)` still exceeds `p`. `above` decreases from 1/2.
template <typename Above>
double whereItFallsTo(double p, Above above) {
  double low = 0;
  double high = 1;
  while (above(high) > p && high < 1e300)
    high *= 2;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high)
      break;
    (above(middle) > p ? low : high) = middle;
  }
  return high;
}

// The quantile of a distribution symmetric around 0, from its upper tail.
template <typename Above>
double symmetricQuantile(double p, Above above) {
  if (p == 0.5)
    return 0;
  const double tail = p < 0.5 ? p : 1 - p;
  const double t = whereItFallsTo(tail, above);
  return p < 0.5 ? -t : t;
}

}  // namespace

double normalCdf(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

double normalQuantile(double p) {
  return symmetricQuantile(p, [](double z) { return normalCdf(-z); });
}

double incompleteBeta(double a, double b, double x) {
  if (x <= 0)
    return 0;
  if (x >= 1)
    return 1;
  const double front =
      std::exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2))
    return front * betaFraction(a, b, x) / a;
  return 1 - front * betaFraction(b, a, 1 - x) / b;
}

double binomialTail(std::int64_t k, std::int64_t n, double p) {
  if (k <= 0)
    return 1;
  if (k > n)
    return 0;
  return incompleteBeta(static_cast<double>(k), static_cast<double>(n - k + 1), p);
}

double studentTwoSided(double t, double degrees) {
  if (degrees >= kManyDegrees)
    return std::erfc(std::abs(t) / std::numbers::sqrt2);
  if (!std::isfinite(t))
    return 0;
  return incompleteBeta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double studentCdf(double t, double degrees) {
  const double tail = studentTwoSided(t, degrees) / 2;
  return t < 0 ? tail : 1 - tail;
}

double studentQuantile(double p, double degrees) {
  return symmetricQuantile(p, [degrees](double t) { return studentTwoSided(t, degrees) / 2; });
}

}  // namespace sonde::engine::statistics
