// The law by which an optimiser changes a weight, from means alone: of stochastic gradient descent
// with momentum μ and weight decay λ, step_t = μ r_t step_(t-1) + r_t gradient_t + λ r_t weight_t,
// where r_t is the learning rate. It is linear, so it holds for the means of the elements, too. The
// factors of an iteration are found from all runs by least squares. Optimisers that are not linear
// have no such law. Plain functions; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::rules {

// Means over the elements of a weight in an iteration.
struct UpdatePoint {
  double step = 0;      // the weight before the step minus the weight after it
  double previous = 0;  // the step of the iteration before; 0 in the first one
  double gradient = 0;
  double weight = 0;
  double rounding = 0;  // of the step, if the elements of the weight are of 32 bits
};

using UpdateFactors = std::array<double, 3>;  // of previous, gradient and weight; NaN: unknown

// The factors of an iteration, which all points share. A factor that the points do not determine is
// 0.
UpdateFactors fitUpdate(const std::vector<UpdatePoint>& points);

// How far the step is from the law, as a share of the sum of the law's magnitudes. `roundings` of
// it are not counted.
double updateError(const UpdateFactors& factors, const UpdatePoint& point, double roundings);

// The factors, if each point obeys the law of the others within kLawfulShare. Requires: five points
// or more.
std::optional<UpdateFactors> learnUpdate(const std::vector<UpdatePoint>& points);

inline constexpr double kLawfulShare = 0.005;
inline constexpr double kLawfulRoundings = 10;
// A step that differs by more breaks the law.
inline constexpr double kUnlawfulShare = 0.02;
inline constexpr double kUnlawfulRoundings = 40;

}  // namespace sonde::rules
