// The forms of one candidate, learned from the values of each run. Plain functions; any thread.
#pragma once

#include "rules/learned/invariants.h"

#include <optional>
#include <utility>
#include <vector>

namespace sonde::rules {

using RunTexts = std::vector<std::pair<Tick, std::string>>;
using RunUpdates = std::vector<std::pair<Tick, UpdatePoint>>;
using RunNumbers = std::vector<std::pair<Tick, double>>;

template <typename Form>
struct Candidate {
  std::optional<Form> form;
  Dropped reason = Dropped::Varies;  // if there is none
};

// `firsts`: the first iteration of each run.
Candidate<OneOf> learnTexts(const std::vector<RunTexts>& runs,
                            const std::vector<std::int64_t>& firsts);

// The numbers are the same in every run, in each iteration.
std::optional<Path> learnPath(const std::vector<RunNumbers>& runs);

// The law of each iteration that all runs recorded, of the first process that did. None: some
// iteration has no law, or there are fewer than two.
std::optional<Law> learnLaw(const std::vector<RunUpdates>& runs);

// The extremes of each run in a stage, logarithms if `isLog`.
struct StageExtremes {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::vector<double> lows;  // one per run
  std::vector<double> highs;
};

struct RangeCandidate {
  bool isLog = false;
  std::vector<StageExtremes> stages;
};

// Stages that every run has: single iterations at first, then groups that grow with the iteration.
// Requires: numbers are positive if `isLog`.
RangeCandidate stagesOf(const std::vector<RunNumbers>& runs, bool isLog);

struct RangeSettings {
  double familyVariance = 0;
  double tail = 0;       // probability beyond one bound
  double leastRoom = 0;  // between the mean of the extremes and the bound
};

// The variances of the extremes of a candidate's stages.
std::vector<double> variancesOf(const RangeCandidate& candidate);

// `without`: a run that is left out; SIZE_MAX: none.
Range rangeOf(const RangeCandidate& candidate, const RangeSettings& settings, std::size_t without);

// Whether the run's extremes are within the range.
bool isWithin(const RangeCandidate& candidate, const Range& range, std::size_t run);

}  // namespace sonde::rules
