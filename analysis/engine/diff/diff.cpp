#include "analysis/engine/diff/diff.h"

#include "analysis/engine/statistics/multiple_tests.h"
#include "analysis/engine/statistics/series.h"
#include "analysis/engine/statistics/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

namespace sonde::engine::diff {
namespace {

using Runs = std::vector<RunTimes>;

// Differences of single runs below this share of an iteration do not matter: a time of a
// microsecond varies by half between runs.
constexpr double kLeastShareOfIteration = 0.001;

SideFacts factsOf(const Runs& runs) {
  SideFacts facts;
  facts.runs = runs.size();
  facts.leastRanks = runs.front().ranks;
  for (const RunTimes& run : runs) {
    facts.leastRanks = std::min(facts.leastRanks, run.ranks);
    facts.mostRanks = std::max(facts.mostRanks, run.ranks);
    facts.iterations += run.iterations;
    facts.warmUp += run.warmUp;
    facts.partial += run.partial;
  }
  return facts;
}

// One entry per run that has an iteration; zeros if the run lacks the subject.
Observations observationsOf(const Runs& runs,
                            const Subject& subject,
                            Times RunTimes::*part = &RunTimes::times) {
  Observations observations;
  for (const RunTimes& run : runs) {
    if (run.iterations == 0)
      continue;
    const Times& times = (run.*part).empty() && part == &RunTimes::raw ? run.times : run.*part;
    const auto found = times.find(subject);
    observations.push_back(found != times.end() ? found->second
                                                : std::vector<double>(run.iterations, 0));
  }
  return observations;
}

// The standard error, in ns, that subtracting recording costs adds to the mean of a side's runs.
struct SideError {
  double shared = 0;  // the same in each run
  double own = 0;     // each run's own: shrinks with their number
};

SideError errorOfSide(const Runs& runs, const Subject& subject) {
  SideError sum;
  double count = 0;
  for (const RunTimes& run : runs) {
    if (run.iterations == 0)
      continue;
    ++count;
    const auto found = run.errors.find(subject);
    if (found == run.errors.end())
      continue;
    const double error = statistics::mean(found->second);
    const double noise = run.costs.noise;
    sum.shared += error * std::sqrt(1 - noise * noise);
    sum.own = std::hypot(sum.own, error * noise);
  }
  count = std::max(count, 1.0);
  return {sum.shared / count, sum.own / count};
}

// The same for the difference of the sides. If the costs of all runs have the same source, their
// shared error cancels and only the rest remains.
double errorOfDifference(const Runs& a, const Runs& b, const Subject& subject) {
  const SideError ofA = errorOfSide(a, subject);
  const SideError ofB = errorOfSide(b, subject);
  const auto alike = [&](const RunTimes& run) { return run.costs.sharedWith(a.front().costs); };
  const bool cancels =
      std::all_of(a.begin(), a.end(), alike) && std::all_of(b.begin(), b.end(), alike);
  const double shared =
      cancels ? std::abs(ofA.shared - ofB.shared) : std::hypot(ofA.shared, ofB.shared);
  return std::hypot(shared, ofA.own, ofB.own);
}

// Adds the share of recording in an iteration.
void addRecording(const Runs& runs, SideFacts& facts) {
  double ns = 0;
  double raw = 0;
  double errors = 0;
  const auto sumOf = [](const Times& all) {
    double sum = 0;
    for (const auto& [subject, times] : all)
      if (subject.kind == Kind::Iteration)
        for (const double each : times)
          sum += each;
    return sum;
  };
  for (const RunTimes& run : runs) {
    facts.corrected += run.costs.known ? 1 : 0;
    ns += sumOf(run.times);
    raw += sumOf(run.raw.empty() ? run.times : run.raw);
    errors += sumOf(run.errors);
  }
  if (raw <= 0)
    return;
  facts.recordingShare = (raw - ns) / raw;
  facts.recordingError = errors / raw;
}

// Whether the subject takes time in an iteration that counts. An iteration occurs even if it takes
// none.
bool occurs(const Runs& runs, const Subject& subject) {
  return std::any_of(runs.begin(), runs.end(), [&subject](const RunTimes& run) {
    const auto found = run.times.find(subject);
    return found != run.times.end() &&
           (subject.kind == Kind::Iteration ||
            std::any_of(
                found->second.begin(), found->second.end(), [](double ns) { return ns > 0; }));
  });
}

double medianIteration(const Runs& a, const Runs& b) {
  std::vector<double> all;
  for (const Runs* side : {&a, &b})
    for (const RunTimes& run : *side)
      for (const auto& [subject, times] : run.times)
        if (subject.kind == Kind::Iteration)
          all.insert(all.end(), times.begin(), times.end());
  return metrics::median(std::move(all));
}

// A row and the results for it.
struct Candidate {
  Row row;
  Comparison comparison;
  std::vector<double> p;  // of each estimate
};

bool isTested(const Candidate& candidate) {
  return candidate.row.verdict == Verdict::Same;
}

std::vector<Candidate> candidatesOf(const Runs& a, const Runs& b, const Judgement& judgement) {
  std::set<Subject> subjects;
  for (const Runs* side : {&a, &b})
    for (const RunTimes& run : *side)
      for (const auto& [subject, times] : run.times)
        subjects.insert(subject);
  std::vector<Candidate> candidates;
  for (const Subject& subject : subjects) {
    const bool inA = occurs(a, subject);
    const bool inB = occurs(b, subject);
    if (!inA && !inB)
      continue;
    Candidate& each = candidates.emplace_back();
    each.row.subject = subject;
    if (inA != inB)
      each.row.verdict = inA ? Verdict::Removed : Verdict::Added;
    // A subject of only one side is described by that side alone.
    const Observations ofA = observationsOf(inA ? a : b, subject);
    const Observations ofB = observationsOf(inB ? b : a, subject);
    const bool both = inA && inB;
    each.comparison = compare(ofA,
                              ofB,
                              judgement,
                              {observationsOf(inA ? a : b, subject, &RunTimes::raw),
                               observationsOf(inB ? b : a, subject, &RunTimes::raw),
                               both ? errorOfDifference(a, b, subject) : 0});
    each.row.pRanks = each.comparison.pRanks;
    each.row.shown = each.comparison.estimates.front();
    if (!inA)
      each.row.shown.a = {};
    if (!inB)
      each.row.shown.b = {};
  }
  return candidates;
}

// Corrects the p values of runs for all tests; those of iterations need only agree. Returns the
// number of tests.
std::size_t correct(std::vector<Candidate>& candidates) {
  std::vector<double> p;
  for (const Candidate& each : candidates)
    if (isTested(each))
      for (const Estimate& estimate : each.comparison.estimates)
        p.push_back(estimate.p);
  const std::vector<double> corrected = statistics::holm(p);
  std::size_t next = 0;
  for (Candidate& each : candidates)
    if (isTested(each))
      for (std::size_t i = 0; i < each.comparison.estimates.size(); ++i)
        each.p.push_back(std::max(corrected[next++], each.comparison.pRanks));
  return p.size();
}

std::size_t shownOf(const Candidate& candidate, double level) {
  const std::vector<Estimate>& estimates = candidate.comparison.estimates;
  for (std::size_t i = 0; i < estimates.size(); ++i)
    if (candidate.p[i] <= level)
      return i;
  const auto surest = std::min_element(
      estimates.begin(), estimates.end(), [](const Estimate& one, const Estimate& other) {
        return one.error < other.error;
      });
  return static_cast<std::size_t>(surest - estimates.begin());
}

// The slowdown that both tests would show.
std::optional<double> detectableIn(
    const Row& row, const Runs& a, const Runs& b, std::size_t tests, const Judgement& judgement) {
  const std::optional<double> byRuns = detectable(row.shown, judgement, tests);
  if (!byRuns)
    return byRuns;
  return detectableByRank(observationsOf(a, row.subject),
                          observationsOf(b, row.subject),
                          row.shown,
                          *byRuns,
                          judgement);
}

// Without `detectable`.
Row judged(Candidate candidate, bool enough, const Judgement& judgement) {
  Row row = std::move(candidate.row);
  if (row.verdict != Verdict::Same)
    return row;
  const std::size_t shown = shownOf(candidate, judgement.level);
  row.shown = candidate.comparison.estimates[shown];
  row.p = candidate.p[shown];
  const bool ranksCanShow = candidate.comparison.leastPRanks <= judgement.level;
  if (!enough || (!ranksCanShow && row.excludesZero())) {
    row.verdict = Verdict::TooFew;
    row.shown.low = row.shown.high = {};
    return row;
  }
  if (row.p <= judgement.level)
    row.verdict = row.shown.b.ns > row.shown.a.ns ? Verdict::Slower : Verdict::Faster;
  return row;
}

Verdict overallOf(const std::vector<Row>& rows) {
  std::set<Verdict> ofIterations;
  std::set<Verdict> ofParts;
  for (const Row& row : rows)
    (row.subject.kind == Kind::Iteration ? ofIterations : ofParts).insert(row.verdict);
  const auto differs = [](const std::set<Verdict>& verdicts) {
    return verdicts.contains(Verdict::Slower) || verdicts.contains(Verdict::Faster);
  };
  if (ofIterations.contains(Verdict::Slower) && !ofIterations.contains(Verdict::Faster))
    return Verdict::Slower;
  if (ofIterations.contains(Verdict::Faster) && !ofIterations.contains(Verdict::Slower))
    return Verdict::Faster;
  if (differs(ofIterations) || differs(ofParts))
    return Verdict::Different;
  return ofIterations.contains(Verdict::TooFew) ? Verdict::TooFew : Verdict::Same;
}

void sortRows(std::vector<Row>& rows) {
  const auto longest = [](const Row& row) { return std::max(row.shown.a.ns, row.shown.b.ns); };
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& one, const Row& other) {
    return std::tuple(one.subject.kind, one.subject.rank, -longest(one)) <
           std::tuple(other.subject.kind, other.subject.rank, -longest(other));
  });
}

}  // namespace

bool Row::excludesZero() const {
  return verdict == Verdict::Same &&
         ((shown.low && *shown.low > 0) || (shown.high && *shown.high < 0));
}

std::string doubtText(const Row& row, const Judgement& judgement) {
  if (row.pRanks > judgement.level)
    return fmt::format("the ranks of the iterations do not show it (p = {:.2g})", row.pRanks);
  return fmt::format("the p of all tests together is {:.2g}", row.p);
}

std::string_view word(Verdict verdict) noexcept {
  constexpr std::string_view kWords[] = {"slower",
                                         "faster",
                                         "no difference can be shown",
                                         "added",
                                         "removed",
                                         "too few iterations",
                                         "different"};
  return kWords[static_cast<std::size_t>(verdict)];
}

Result<Diff> diff(const Runs& a, const Runs& b, const Judgement& judgement) {
  Diff result;
  result.a = factsOf(a);
  result.b = factsOf(b);
  addRecording(a, result.a);
  addRecording(b, result.b);
  for (const auto& [side, facts] : {std::pair("A", &result.a), std::pair("B", &result.b)})
    if (facts->iterations == 0)
      return Error{ErrorCode::NotFound,
                   fmt::format("{} has no iteration left to compare: {}",
                               side,
                               facts->warmUp > 0 || facts->partial == 0
                                   ? "skip fewer at the start"
                                   : "none of them was recorded by all requested probes")};
  Judgement own = judgement;
  own.leastNoiseNs = kLeastShareOfIteration * medianIteration(a, b);
  std::vector<Candidate> candidates = candidatesOf(a, b, own);
  result.tests = correct(candidates);
  const bool enough = enoughIterations(result.a.iterations, result.b.iterations, judgement);
  result.rows.reserve(candidates.size());
  for (Candidate& each : candidates) {
    const bool isCompared = isTested(each);
    Row& row = result.rows.emplace_back(judged(std::move(each), enough, judgement));
    if (isCompared && row.verdict != Verdict::TooFew)
      row.detectable = detectableIn(row, a, b, result.tests, judgement);
  }
  result.verdict = overallOf(result.rows);
  sortRows(result.rows);
  return result;
}

}  // namespace sonde::engine::diff
