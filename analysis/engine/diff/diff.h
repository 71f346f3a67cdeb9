// Compares two sides, each one or several runs of a program: the iteration, and within it
// operations, kernels and all else that was observed. Pure functions over plain values; any thread.
// docs/diff.md has the method.
#pragma once

#include "analysis/engine/diff/comparison.h"
#include "analysis/engine/diff/run_times.h"
#include "analysis/engine/diff/subject.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::diff {

enum class Verdict : std::uint8_t {
  Slower,  // b is slower
  Faster,
  Same,       // no difference can be shown
  Added,      // only b has it
  Removed,    // only a has it
  TooFew,     // too few iterations, or too few that differ from each other, to show one by rank
  Different,  // for a whole comparison: the iteration is the same but parts of it differ, or its
              // ranks differ in different ways
};
std::string_view word(Verdict verdict) noexcept;

struct Row {
  Subject subject;
  Verdict verdict = Verdict::Same;
  // The measure that shows a difference: preferably the typical iteration, then the fast ones, then
  // the mean. Without a difference, the measure that repeats best.
  Estimate shown;
  double pRanks = 1;
  double p = 1;                      // the larger of both, corrected for all tests
  std::optional<double> detectable;  // the change that would probably have been found
  // The interval of this row alone excludes 0 although no difference can be shown.
  bool excludesZero() const;
};

// Why no difference can be shown although the interval excludes 0: "the ranks of the iterations do
// not show it (p = 0.2)". Requires: row.excludesZero().
std::string doubtText(const Row& row, const Judgement& judgement);

struct SideFacts {
  std::size_t runs = 0;
  std::size_t leastRanks = 0;
  std::size_t mostRanks = 0;
  std::size_t iterations = 0;  // of all runs; those that count
  std::size_t warmUp = 0;      // do not count: the first of each run
  std::size_t partial = 0;     // do not count: fewer probes recorded in them
  std::size_t corrected = 0;   // runs from which the cost of recording is subtracted
  // That cost as a share of a mean iteration, and its standard error.
  double recordingShare = 0;
  double recordingError = 0;
};

struct Diff {
  Verdict verdict = Verdict::Same;
  SideFacts a;
  SideFacts b;
  std::size_t tests = 0;  // rows times measures; p is corrected for them
  std::vector<Row> rows;  // the iteration first, then by kind, longest first
};

// Requires: each side has a run. NotFound: a side has no iteration that counts.
Result<Diff> diff(const std::vector<RunTimes>& a,
                  const std::vector<RunTimes>& b,
                  const Judgement& judgement);

}  // namespace sonde::engine::diff
