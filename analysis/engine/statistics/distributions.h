// The normal distribution, Student's t and the binomial one: how probable a value is, and which
// value has a probability. Absolute errors are below 1e-12, relative ones of small probabilities
// below 1e-9. Pure functions; any thread.
#pragma once

#include <cstdint>

namespace sonde::engine::statistics {

// P(Z <= z).
double normalCdf(double z);
// The z with normalCdf(z) == p. Requires: 0 < p < 1.
double normalQuantile(double p);

// `degrees` of freedom need not be whole, as those of Welch's test are not; infinity is the normal
// distribution. Requires: degrees > 0.
// P(T <= t).
double studentCdf(double t, double degrees);
// P(|T| >= |t|): the p-value of a two-sided test, also where it is tiny.
double studentTwoSided(double t, double degrees);
// The t with studentCdf(t, degrees) == p. Requires: 0 < p < 1.
double studentQuantile(double p, double degrees);

// P(X >= k) of n tries that succeed with probability p. Requires: n >= 0, 0 <= p <= 1.
double binomialTail(std::int64_t k, std::int64_t n, double p);

// The regularised incomplete beta function I_x(a, b), of which the others are made.
// Requires: a > 0, b > 0, 0 <= x <= 1.
double incompleteBeta(double a, double b, double x);

}  // namespace sonde::engine::statistics
