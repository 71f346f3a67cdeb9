#include "rules/learned/observations.h"

#include "rules/learned/observers.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

namespace sonde::rules {
namespace {

// The first outer iterations of a process.
std::set<std::int64_t> observedIterations(const ProcessFacts& facts) {
  std::set<std::int64_t> numbers;
  for (const StepFact& step : facts.steps) {
    if (numbers.size() == kMostObserved)
      break;
    if (!step.isInner)
      numbers.insert(step.number);
  }
  return numbers;
}

}  // namespace

void Observer::addTick(const std::string& source, const Tick& tick) {
  auto& all = run_->ticks[source];
  if (all.empty() || all.back() != tick)
    all.push_back(tick);
}

void Observer::addText(ObservationKey key,
                       const std::string& source,
                       const Tick& tick,
                       std::string text) {
  ObservedSeries& series = run_->series[std::move(key)];
  series.source = source;
  series.texts.emplace_back(tick, std::move(text));
}

void Observer::addNumber(ObservationKey key,
                         const std::string& source,
                         const Tick& tick,
                         double number) {
  ObservedSeries& series = run_->series[std::move(key)];
  series.source = source;
  series.numbers.emplace_back(tick, number);
}

void Observer::addUpdate(ObservationKey key,
                         const std::string& source,
                         const Tick& tick,
                         const UpdatePoint& update) {
  ObservedSeries& series = run_->series[std::move(key)];
  series.source = source;
  series.updates.emplace_back(tick, update);
}

RunObservations observe(const std::string& name, const std::vector<ObservedProcess>& processes) {
  RunObservations run;
  run.name = name;
  run.first = std::numeric_limits<std::int64_t>::max();
  std::set<std::int64_t> all;
  for (const ObservedProcess& each : processes) {
    const auto numbers = observedIterations(*each.facts);
    if (numbers.empty())
      continue;
    Observer observer(run, static_cast<int>(run.processes.size()), numbers);
    run.processes.push_back(each.facts->name);
    run.iterations += static_cast<std::int64_t>(numbers.size());
    run.first = std::min(run.first, *numbers.begin());
    all.insert(numbers.begin(), numbers.end());
    observeCalls(*each.calls, observer);
    observeTensors(*each.facts, observer);
    observeUpdates(*each.facts, observer);
    observeScalars(*each.facts, observer);
  }
  Observer job(run, kWholeJob, std::move(all));
  observeRanks(processes, job);
  for (auto& [source, ticks] : run.ticks) {
    std::sort(ticks.begin(), ticks.end());
    ticks.erase(std::unique(ticks.begin(), ticks.end()), ticks.end());
  }
  return run;
}

std::vector<ObservedProcess> withCalls(const std::vector<const ProcessFacts*>& processes,
                                       const CallFacts& calls) {
  static const ProcessCalls kNone;
  std::vector<ObservedProcess> all;
  for (const ProcessFacts* each : processes) {
    const auto found = calls.processes.find(each->id);
    all.push_back({each, found == calls.processes.end() ? &kNone : &found->second});
  }
  return all;
}

const std::vector<std::string>& observationKinds() {
  static const std::vector<std::string> kKinds = {
      "order", "calls", "names", "arguments", "layout", "ranks", "updates", "scalars", "values"};
  return kKinds;
}

bool isCount(const ObservationKey& key) {
  return key.measure == "calls" || key.measure == "recordings";
}

bool isPositive(const ObservationKey& key) {
  return key.measure == "rms" || key.measure == "largest / rms" ||
         key.measure == "rms / recent rms" || key.measure == "value / recent value";
}

double leastRoom(const ObservationKey& key) {
  constexpr double kShare = 0.02;
  return key.measure == "zeros" || key.measure == "mean / rms" ? kShare : 0;
}

std::string recorderOf(const std::string& source) {
  constexpr std::string_view kTensor = "tensors of ";
  if (source.starts_with(kTensor))
    return fmt::format(
        "the probe tensor: sonde run --sources +tensor, with [tensors.{}] in the "
        "--tensors file if there is one",
        source.substr(kTensor.size()));
  if (source.starts_with("operators"))
    return "the probe torch: sonde run --torch-operators names";
  if (source.starts_with("arguments"))
    return "the probe torch: sonde run --torch-operators shapes";
  if (source == "collectives")
    return "the probes gloo, nccl or mpi";
  if (source == "scalars")
    return "the probes annotation and torch";
  return "the probe torch";
}

}  // namespace sonde::rules
