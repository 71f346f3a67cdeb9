// Whether two sides differ in one thing, by how much, and how sure that is. Pure functions; any
// thread. docs/diff.md has the method in words.
//
// A side is one or several runs of one program, a run is a number of iterations. What a run shows
// is its typical iteration and, since other programs on the machine make iterations slower and none
// faster, its fast ones, which repeat better. The error of each is measured in blocks of
// neighbours: a machine is slow for a while. What runs differ by beyond that is a variance of its
// own (statistics/random_effects.h). Besides, all iterations of the two sides are compared by their
// ranks: no difference is to rest on a few outliers.
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
  double level = 0.05;       // the chance of even one false difference among all that is compared
  double confidence = 0.95;  // of intervals
  // The standard deviation, as a share, by which identical runs are taken to differ where there is
  // one run on each side and nothing else is known; more where the run itself varies more.
  double runNoise = 0.03;
  double leastNoiseNs = 0;  // … but no less
};

// What stands for a run.
enum class Measure : std::uint8_t {
  Typical,  // the median iteration
  Fast,     // the median of the fastest fifth
  Mean,     // of all iterations; of what does not occur in most of them nothing else
};
std::string_view word(Measure measure) noexcept;

// What recording took of both sides.
struct TakenOut {
  Observations rawOfA;  // as recorded, with it; empty: nothing is taken out
  Observations rawOfB;
  double errorNs = 0;  // standard, of the difference of the sides
};

struct SideShown {
  double ns = 0;              // by the measure
  double rawNs = 0;           // … of the same runs as recorded
  std::size_t runs = 0;       // that count
  std::size_t disturbed = 0;  // that do not: far from all others
};

// Of one measure.
struct Estimate {
  Measure measure = Measure::Typical;
  SideShown a;
  SideShown b;
  // b / a − 1 and its interval; nothing: there is no bound, or both are 0.
  std::optional<double> change;
  std::optional<double> low;
  std::optional<double> high;
  double error = 0;  // standard, of the difference: a share of the mean of both sides
  double degrees = 0;
  double p = 1;  // that runs which do not differ show so much
};

struct Comparison {
  // Typical and Fast of what occurs in most iterations, each where it shows any time on a side;
  // then Mean.
  std::vector<Estimate> estimates;
  double pRanks = 1;  // that iterations which do not differ show such ranks
};

// Requires: both sides have a run, and each run an iteration; no value is negative.
Comparison compare(const Observations& a,
                   const Observations& b,
                   const Judgement& judgement,
                   const TakenOut& takenOut = {});

// The smallest change for the slower that would be found in four of five comparisons with this
// error, among `tests` of them; nothing: none would.
std::optional<double> detectable(const Estimate& estimate,
                                 const Judgement& judgement,
                                 std::size_t tests);

// Whether the ranks of so many iterations can show a difference at all, were all of one side above
// all of the other.
bool enoughIterations(std::size_t a, std::size_t b, const Judgement& judgement);

}  // namespace sonde::engine::diff
