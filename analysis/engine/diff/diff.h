// What differs between two sides, each one or several runs of a program: the iteration, and within
// it operations, kernels and whatever else was observed. Pure functions over plain values; any
// thread. docs/diff.md has the method.
#pragma once

#include "analysis/engine/diff/comparison.h"
#include "analysis/engine/diff/run_times.h"
#include "analysis/engine/diff/subject.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sonde::engine::diff {

enum class Verdict : std::uint8_t {
  Slower,  // b is
  Faster,
  Same,       // no difference can be shown
  Added,      // only b has it
  Removed,    // only a has it
  TooFew,     // no difference could be shown, whatever it was
  Different,  // of a whole comparison: the iteration does not differ, but parts of it do, or its
              // ranks differ in different ways
};
std::string_view word(Verdict verdict) noexcept;

struct Row {
  Subject subject;
  Verdict verdict = Verdict::Same;
  // The measure in which a difference was found: the typical iteration before the fast ones, these
  // before the mean; else the one that repeats best.
  Estimate shown;
  double pRanks = 1;
  double p = 1;                      // the larger of both, corrected for all tests
  std::optional<double> detectable;  // the change that would most likely have been found
};

struct SideFacts {
  std::size_t runs = 0;
  std::size_t leastRanks = 0;
  std::size_t mostRanks = 0;
  std::size_t iterations = 0;  // of all runs, that count
  std::size_t warmUp = 0;      // … that do not: the first of each run
  std::size_t partial = 0;     // … since fewer probes recorded in them
  std::size_t corrected = 0;   // runs out of which it is taken what recording took
  // … in the mean of an iteration, as a share of it, and its standard error.
  double recordingShare = 0;
  double recordingError = 0;
};

struct Diff {
  Verdict verdict = Verdict::Same;
  SideFacts a;
  SideFacts b;
  std::size_t tests = 0;  // of each row for each of its measures: p is corrected for so many
  std::vector<Row> rows;  // the iteration first, then by kind, the longest first
};

// Requires: each side has a run. NotFound: a side has no iteration that counts.
Result<Diff> diff(const std::vector<RunTimes>& a,
                  const std::vector<RunTimes>& b,
                  const Judgement& judgement);

}  // namespace sonde::engine::diff
