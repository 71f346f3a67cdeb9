#include "rules/baseline/baselines.h"

#include "analysis/engine/diff/bounded_runs.h"
#include "analysis/engine/diff/iteration_times.h"
#include "analysis/store/trace_file.h"
#include "rules/baseline/baseline_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sonde::rules {
namespace {

namespace diff = engine::diff;

Result<std::vector<diff::RunTimes>> readTimes(const std::vector<diff::RunFiles>& runs,
                                              const diff::Dimensions& by) {
  return diff::readRuns(runs,
                        [&](const std::string& path) -> Result<std::vector<diff::IterationTimes>> {
                          SONDE_TRY_ASSIGN(const store::Database trace, store::openTrace(path));
                          return diff::readIterationTimes(trace, by);
                        },
                        by.rank,
                        {});
}

// Whether a file that was accepted by some words has what others need. Ranks are joined or not.
Result<void> checkDimensions(const std::string& path,
                             const std::vector<std::string>& has,
                             const std::vector<std::string>& needed) {
  const auto contains = [](const auto& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  for (const std::string& word : needed)
    if (!contains(has, word))
      return notFound(fmt::format("the baseline {} has no times by {}: accept it anew with --by {}",
                                  path,
                                  word,
                                  fmt::join(needed, ",")));
  if (contains(has, "rank") && !contains(needed, "rank"))
    return notFound(fmt::format(
        "the baseline {} has times by rank: add rank to the parameter by, or accept it anew",
        path));
  return {};
}

}  // namespace

Result<std::vector<diff::RunTimes>> readBaselineTimes(const std::vector<diff::RunFiles>& runs,
                                                      const std::vector<std::string>& by) {
  SONDE_TRY_ASSIGN(const diff::Dimensions dimensions, diff::dimensionsOf(by));
  SONDE_TRY_ASSIGN(std::vector<diff::RunTimes> times, readTimes(runs, dimensions));
  return diff::boundedRuns(std::move(times));
}

Result<RunObservations> readRunObservations(const diff::RunFiles& run) {
  std::vector<std::unique_ptr<RunFacts>> facts;
  std::vector<std::unique_ptr<CallFacts>> calls;
  std::vector<ObservedProcess> processes;
  for (const std::string& path : run) {
    SONDE_TRY_ASSIGN(const store::Database trace, store::openTrace(path));
    SONDE_TRY_ASSIGN(RunFacts readFacts, RunFacts::read(trace));
    SONDE_TRY_ASSIGN(CallFacts readCalls, CallFacts::read(trace));
    facts.push_back(std::make_unique<RunFacts>(std::move(readFacts)));
    calls.push_back(std::make_unique<CallFacts>(std::move(readCalls)));
    for (const ObservedProcess& each : withCalls(facts.back()->processes(), *calls.back()))
      processes.push_back(each);
  }
  return observe(run.front(), processes);
}

Result<diff::Hardware> readRunHardware(const diff::RunFiles& run) {
  std::vector<diff::Hardware> all;
  for (const std::string& path : run) {
    SONDE_TRY_ASSIGN(const store::Database trace, store::openTrace(path));
    SONDE_TRY_ASSIGN(diff::Hardware hardware, diff::readHardware(trace));
    all.push_back(std::move(hardware));
  }
  return diff::joined(all);
}

Result<std::unique_ptr<Baselines>> Baselines::open(const std::vector<std::string>& words,
                                                   std::vector<diff::RunFiles> judged) {
  auto baselines = std::make_unique<Baselines>();
  baselines->judged_ = std::move(judged);
  std::vector<std::string> traces;
  for (const std::string& word : words) {
    if (!isBaselineFile(word)) {
      traces.push_back(word);
      continue;
    }
    SONDE_TRY_ASSIGN(const nlohmann::json document, readBaselineDocument(word));
    if (kindOf(document) == kLearnedKind) {
      SONDE_TRY_ASSIGN(LearnedFile learned, readLearnedFile(word, document));
      baselines->learned_.push_back({word, std::move(learned.learned)});
      continue;
    }
    SONDE_TRY_ASSIGN(BaselineFile file, readBaselineFile(word, document));
    baselines->files_.push_back({word, std::move(file)});
  }
  SONDE_TRY_ASSIGN(baselines->before_, diff::runsOf(traces));
  for (const auto* side : {&baselines->judged_, &baselines->before_})
    for (const diff::RunFiles& run : *side) {
      SONDE_TRY_ASSIGN(diff::Hardware hardware, readRunHardware(run));
      baselines->hardware_.push_back({run.front(), std::move(hardware)});
    }
  for (const NamedFile& file : baselines->files_)
    baselines->hardware_.push_back({file.path, file.content.hardware});
  return baselines;
}

std::optional<std::string> Baselines::otherHardware() const {
  const NamedHardware& own = hardware_.front();
  for (const NamedHardware& each : hardware_)
    if (each.hardware != own.hardware)
      return fmt::format("'{}' ran on {}, but '{}' ran on {}",
                         each.name,
                         diff::textOf(each.hardware),
                         own.name,
                         diff::textOf(own.hardware));
  return std::nullopt;
}

Result<BothSides> Baselines::times(const std::vector<std::string>& by) const {
  SONDE_TRY_ASSIGN(const diff::Dimensions dimensions, diff::dimensionsOf(by));
  BothSides sides;
  SONDE_TRY_ASSIGN(sides.now, readTimes(judged_, dimensions));
  SONDE_TRY_ASSIGN(sides.before, readBaselineTimes(before_, by));
  for (const NamedFile& file : files_) {
    SONDE_TRY(checkDimensions(file.path, file.content.by, by));
    std::vector<diff::RunTimes> runs;
    for (const BaselineFileRun& run : file.content.runs)
      runs.push_back(run.times);
    runs = diff::observedOnly(std::move(runs), dimensions);
    std::move(runs.begin(), runs.end(), std::back_inserter(sides.before));
  }
  return sides;
}

Result<const std::vector<BaselineRun>*> Baselines::runs() {
  if (runs_)
    return &*runs_;
  std::vector<BaselineRun> all;
  for (const diff::RunFiles& files : before_) {
    BaselineRun& run = all.emplace_back();
    run.name = files.front();
    for (const std::string& path : files) {
      SONDE_TRY_ASSIGN(const store::Database trace, store::openTrace(path));
      SONDE_TRY_ASSIGN(RunFacts facts, RunFacts::read(trace));
      run.read.push_back(std::make_unique<RunFacts>(std::move(facts)));
      const auto& processes = run.read.back()->processes();
      run.processes.insert(run.processes.end(), processes.begin(), processes.end());
    }
  }
  runs_ = std::move(all);
  return &*runs_;
}

}  // namespace sonde::rules
