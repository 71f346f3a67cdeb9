// Whether two sides differ in one subject, by how much, and with what certainty. Pure functions;
// any thread. docs/diff.md explains the method.
//
// A side is one or several runs of a program; a run is a number of iterations. A run shows its
// typical iteration. It also shows its fast ones: other programs on the machine only make
// iterations slower, so the fast ones repeat better. The error of each is measured in blocks of
// neighbours, since a machine is slow for a while. Further differences between runs are a variance
// of their own (statistics/random_effects.h). All iterations of both sides are also compared by
// rank, so that a difference does not rest on a few outliers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sonde::engine::diff {

// By run, then by iteration: nanoseconds.
using Observations = std::vector<std::vector<double>>;

struct Judgement {
  double level = 0.05;       // the probability of any false difference among all comparisons
  double confidence = 0.95;  // of intervals
  // The assumed standard deviation between identical runs, as a share. Used if each side has one
  // run and nothing else is known; larger if the run itself varies more.
  double runNoise = 0.03;
  double leastNoiseNs = 0;  // lower bound of it, in ns
};

// The number that represents a run.
enum class Measure : std::uint8_t {
  Typical,  // the median iteration
  Fast,     // the median of the fastest fifth
  Mean,     // of all iterations; the only measure of what does not occur in most of them
};
std::string_view word(Measure measure) noexcept;

// The recording costs that were subtracted from both sides.
struct TakenOut {
  Observations rawOfA;  // as recorded; empty: nothing was subtracted
  Observations rawOfB;
  double errorNs = 0;  // standard error of the difference of the sides
};

struct SideShown {
  double ns = 0;              // by the measure
  double rawNs = 0;           // of the same runs, as recorded
  std::size_t runs = 0;       // those that count
  std::size_t disturbed = 0;  // those that do not: far from all others
};

// The comparison by one measure.
struct Estimate {
  Measure measure = Measure::Typical;
  SideShown a;
  SideShown b;
  // b / a − 1 and its interval. Unset: unbounded, or both sides are 0.
  std::optional<double> change;
  std::optional<double> low;
  std::optional<double> high;
  double error = 0;  // standard error of the difference, as a share of the mean of both sides
  double degrees = 0;
  double p = 1;  // probability that equal runs differ by as much
};

struct Comparison {
  // Typical and Fast if the subject occurs in most iterations, each if it is positive on a side;
  // then Mean.
  std::vector<Estimate> estimates;
  double pRanks = 1;  // probability that equal iterations show such ranks
  double leastPRanks =
      1;  // the smallest that these iterations could have, by whatever side each is
};

// Requires: both sides have a run, each run has an iteration, and no value is negative.
Comparison compare(const Observations& a,
                   const Observations& b,
                   const Judgement& judgement,
                   const TakenOut& takenOut = {});

// The smallest slowdown that four of five comparisons with this error, among `tests`, would detect.
// Unset: no slowdown would be.
std::optional<double> detectable(const Estimate& estimate,
                                 const Judgement& judgement,
                                 std::size_t tests);

// The smallest slowdown from `least` on, in steps of a quarter, that the ranks of the iterations
// would show, too: those of B as they vary, around the time of A. Unset: not even one of 1000 %.
// Requires: `estimate` is by compare() of these sides.
std::optional<double> detectableByRank(const Observations& a,
                                       const Observations& b,
                                       const Estimate& estimate,
                                       double least,
                                       const Judgement& judgement);

// Whether this number of iterations can show a difference by rank at all, even if all of one side
// were above all of the other.
bool enoughIterations(std::size_t a, std::size_t b, const Judgement& judgement);

// The smallest number of iterations for which enoughIterations() holds if the other side has this
// number. Requires: `other` > 0.
std::size_t neededIterations(std::size_t other, const Judgement& judgement);

}  // namespace sonde::engine::diff
