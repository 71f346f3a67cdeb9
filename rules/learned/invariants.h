// Learned invariants: what held in every good run. Plain values; any thread.
#pragma once

#include "rules/learned/observations.h"

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace sonde::rules {

// The text is one of these, from the iteration `from` of a run on (counted from the run's first).
struct OneOf {
  std::vector<std::string> values;  // sorted, not empty
  std::int64_t from = 0;
};

// The number is this one in each iteration, whatever the run: a schedule.
struct Path {
  std::int64_t first = 0;      // iteration
  std::vector<double> values;  // one per iteration; NaN: none was recorded
};

// A weight changes by the law of update_law.h, with these factors.
struct Law {
  std::int64_t first = 0;              // iteration
  std::vector<UpdateFactors> factors;  // one per iteration; NaN: unknown
};

// The number is within bounds, which hold for these iterations.
struct Stage {
  std::int64_t first = 0;
  std::int64_t last = 0;
  double low = 0;
  double high = 0;
};
struct Range {
  std::vector<Stage> stages;  // ascending
};

struct Invariant {
  ObservationKey key;
  std::string source;  // as in ObservedSeries
  std::variant<OneOf, Path, Law, Range> form;
  std::int64_t samples = 0;  // observations that it held for
};

// Why a candidate was not admitted.
enum class Dropped {
  NotInEveryRun,   // some run lacks it
  TooFewSamples,   // fewer than kLeastSamples in some run
  Varies,          // more than kMostValues texts, or runs have different ones
  NotFinite,       // NaN or infinite
  NoLaw,           // a weight does not follow its gradient by a linear law
  BrokenByHeldOut  // a good run that was left out would have broken it
};
const char* wordOf(Dropped reason);
inline constexpr Dropped kDroppedReasons[] = {Dropped::NotInEveryRun,
                                              Dropped::TooFewSamples,
                                              Dropped::Varies,
                                              Dropped::NotFinite,
                                              Dropped::NoLaw,
                                              Dropped::BrokenByHeldOut};

struct LearnedInvariants {
  std::vector<std::string> runs;                                       // names
  std::int64_t iterations = 0;                                         // of all ranks of all runs
  std::vector<Invariant> invariants;                                   // by key
  std::map<std::string, std::map<std::string, std::int64_t>> dropped;  // by kind, then reason
};

inline constexpr std::size_t kLeastLearnedRuns = 5;
inline constexpr std::size_t kMostLearnedRuns = 100;
inline constexpr std::size_t kLeastSamples = 2;  // in each run
inline constexpr std::size_t kMostValues = 4;
// Texts of these first iterations of a run may differ.
inline constexpr std::int64_t kLearnedWarmUp = 3;

// Two numbers of a path are the same if they differ by less than this share.
inline constexpr double kSameShare = 1e-6;

// "1", "one of 1, 2", "between 0.1 and 0.2 in iterations 4-5", with long texts cut.
std::string textOf(const Invariant& invariant);

// A text in a message: line breaks become " > ", and it is cut at 120 bytes.
std::string shortened(const std::string& text);

}  // namespace sonde::rules
