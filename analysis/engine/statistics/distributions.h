// Probabilities and quantiles of the normal distribution, Student's t and the binomial one.
// Absolute errors are below 1e-12; relative errors of small probabilities below 1e-9. Pure
// functions; any thread.
#pragma once

#include <cstdint>

namespace sonde::engine::statistics {

// P(Z <= z).
double normalCdf(double z);
// The z with normalCdf(z) == p. Requires: 0 < p < 1.
double normalQuantile(double p);

// `degrees` of freedom may be fractional, as in Welch's test; infinity gives the normal
// distribution. Requires: degrees > 0. P(T <= t).
double studentCdf(double t, double degrees);
// P(|T| >= |t|): the p-value of a two-sided test, also where it is tiny.
double studentTwoSided(double t, double degrees);
// The t with studentCdf(t, degrees) == p. Requires: 0 < p < 1.
double studentQuantile(double p, double degrees);

// P(X >= k) for n tries with success probability p. Requires: n >= 0, 0 <= p <= 1.
double binomialTail(std::int64_t k, std::int64_t n, double p);

// The regularised incomplete beta function I_x(a, b), on which the others are based. Requires: a >
// 0, b > 0, 0 <= x <= 1.
double incompleteBeta(double a, double b, double x);

}  // namespace sonde::engine::statistics
