#include "rules/learned/learn.h"

#include "analysis/engine/statistics/series.h"
#include "rules/learned/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

namespace sonde::rules {
namespace {

using Runs = std::vector<RunObservations>;

struct NumberCandidate {
  ObservationKey key;
  std::string source;
  RangeCandidate range;
  std::int64_t samples = 0;
};

// A count without a value at a tick of its source is 0.
RunTexts filled(const RunObservations& run, const std::string& source, RunTexts texts) {
  const auto ticks = run.ticks.find(source);
  if (ticks == run.ticks.end())
    return texts;
  std::set<Tick> known;
  for (const auto& [tick, text] : texts)
    known.insert(tick);
  for (const Tick& tick : ticks->second)
    if (!known.contains(tick))
      texts.emplace_back(tick, "0");
  return texts;
}

std::string familyOf(const NumberCandidate& candidate) {
  return candidate.key.kind + "\n" + candidate.key.measure + "\n" + candidate.source +
         (candidate.range.isLog ? "\nlog" : "");
}

class Learner {
 public:
  explicit Learner(const Runs& runs) : runs_(runs) {
    for (const RunObservations& run : runs) {
      learned_.runs.push_back(run.name);
      learned_.iterations += run.iterations;
      firsts_.push_back(run.first);
    }
  }

  LearnedInvariants learn() {
    std::map<ObservationKey, std::string> sources;
    for (const RunObservations& run : runs_)
      for (const auto& [key, series] : run.series)
        sources.emplace(key, series.source);
    for (const auto& [key, source] : sources)
      learnSeries(key, source);
    learnRanges();
    std::sort(learned_.invariants.begin(),
              learned_.invariants.end(),
              [](const auto& a, const auto& b) { return a.key < b.key; });
    return std::move(learned_);
  }

 private:
  void drop(const ObservationKey& key, Dropped reason) {
    ++learned_.dropped[key.kind][wordOf(reason)];
  }

  void learnSeries(const ObservationKey& key, const std::string& source) {
    std::vector<RunTexts> texts;
    std::vector<RunNumbers> numbers;
    std::vector<RunUpdates> updates;
    for (const RunObservations& run : runs_) {
      const auto series = run.series.find(key);
      const bool has = series != run.series.end();
      if (!has && !(isCount(key) && run.ticks.contains(source)))
        return drop(key, Dropped::NotInEveryRun);
      texts.push_back(has ? series->second.texts : RunTexts{});
      numbers.push_back(has ? series->second.numbers : RunNumbers{});
      updates.push_back(has ? series->second.updates : RunUpdates{});
      if (isCount(key))
        texts.back() = filled(run, source, std::move(texts.back()));
    }
    if (!updates.front().empty())
      learnUpdatesOf(key, source, updates);
    else if (numbers.front().empty())
      learnTextsOf(key, source, texts);
    else
      learnNumbersOf(key, source, numbers);
  }

  void learnTextsOf(const ObservationKey& key,
                    const std::string& source,
                    const std::vector<RunTexts>& texts) {
    auto candidate = learnTexts(texts, firsts_);
    if (!candidate.form)
      return drop(key, candidate.reason);
    std::int64_t samples = 0;
    for (const RunTexts& run : texts)
      samples += static_cast<std::int64_t>(run.size());
    learned_.invariants.push_back({key, source, *std::move(candidate.form), samples});
  }

  void learnUpdatesOf(const ObservationKey& key,
                      const std::string& source,
                      const std::vector<RunUpdates>& updates) {
    auto law = learnLaw(updates);
    if (!law)
      return drop(key, Dropped::NoLaw);
    std::int64_t samples = 0;
    for (const RunUpdates& run : updates)
      samples += static_cast<std::int64_t>(run.size());
    learned_.invariants.push_back({key, source, *std::move(law), samples});
  }

  void learnNumbersOf(const ObservationKey& key,
                      const std::string& source,
                      const std::vector<RunNumbers>& numbers) {
    std::int64_t samples = 0;
    for (const RunNumbers& run : numbers) {
      if (run.size() < kLeastSamples)
        return drop(key, Dropped::TooFewSamples);
      for (const auto& [tick, number] : run)
        if (!std::isfinite(number))
          return drop(key, Dropped::NotFinite);
      samples += static_cast<std::int64_t>(run.size());
    }
    if (auto path = key.kind == "scalars" ? learnPath(numbers) : std::nullopt) {
      learned_.invariants.push_back({key, source, *std::move(path), samples});
      return;
    }
    RangeCandidate range = stagesOf(numbers, isPositive(key));
    if (range.stages.empty())
      return drop(key, Dropped::TooFewSamples);
    candidates_.push_back({key, source, std::move(range), samples});
  }

  void learnRanges() {
    std::map<std::string, std::vector<double>> families;
    std::size_t bounds = 0;
    for (const NumberCandidate& each : candidates_) {
      const std::vector<double> variances = variancesOf(each.range);
      auto& family = families[familyOf(each)];
      family.insert(family.end(), variances.begin(), variances.end());
      bounds += variances.size();
    }
    for (const NumberCandidate& each : candidates_)
      learnRange(each,
                 {engine::statistics::median(families[familyOf(each)]),
                  kFalseAlarms / static_cast<double>(bounds),
                  leastRoom(each.key)});
  }

  void learnRange(const NumberCandidate& candidate, const RangeSettings& settings) {
    for (std::size_t run = 0; run < runs_.size(); ++run)
      if (!isWithin(candidate.range, rangeOf(candidate.range, settings, run), run))
        return drop(candidate.key, Dropped::BrokenByHeldOut);
    learned_.invariants.push_back({candidate.key,
                                   candidate.source,
                                   rangeOf(candidate.range, settings, SIZE_MAX),
                                   candidate.samples});
  }

  const Runs& runs_;
  std::vector<std::int64_t> firsts_;
  std::vector<NumberCandidate> candidates_;
  LearnedInvariants learned_;
};

}  // namespace

Result<LearnedInvariants> learn(const std::vector<RunObservations>& runs) {
  if (runs.size() < kLeastLearnedRuns)
    return notFound(fmt::format("{} run{} are too few to learn from: give {} good runs or more",
                                runs.size(),
                                runs.size() == 1 ? "" : "s",
                                kLeastLearnedRuns));
  for (const RunObservations& run : runs)
    if (run.iterations == 0)
      return notFound(fmt::format(
          "'{}' has no iteration that ended: mark iterations with sonde.iteration(), or record the "
          "torch source with an optimiser",
          run.name));
  LearnedInvariants learned = Learner(runs).learn();
  if (learned.invariants.empty())
    return notFound(
        "nothing held in all runs: record more iterations, with --sources +tensor and "
        "--torch-operators shapes");
  return learned;
}

}  // namespace sonde::rules
