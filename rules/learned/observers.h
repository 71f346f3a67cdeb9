// The parts of observe(): each adds series of its own kinds. Plain functions; any thread.
#pragma once

#include "rules/learned/observations.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace sonde::rules {

// Adds values. Keeps those of iterations that are observed.
class Observer {
 public:
  Observer(RunObservations& run, int process, std::set<std::int64_t> iterations)
      : run_(&run), process_(process), iterations_(std::move(iterations)) {}

  bool observes(std::int64_t iteration) const { return iterations_.contains(iteration); }
  Tick tick(std::int64_t iteration, int part = 0) const { return {process_, iteration, part}; }

  void addTick(const std::string& source, const Tick& tick);
  void addText(ObservationKey key, const std::string& source, const Tick& tick, std::string text);
  void addNumber(ObservationKey key, const std::string& source, const Tick& tick, double number);
  void addUpdate(ObservationKey key,
                 const std::string& source,
                 const Tick& tick,
                 const UpdatePoint& update);

 private:
  RunObservations* run_;
  int process_;
  std::set<std::int64_t> iterations_;
};

void observeCalls(const ProcessCalls& calls, Observer& observer);
void observeTensors(const ProcessFacts& facts, Observer& observer);
void observeUpdates(const ProcessFacts& facts, Observer& observer);
void observeScalars(const ProcessFacts& facts, Observer& observer);
// Requires: `observer` is of the whole job.
void observeRanks(const std::vector<ObservedProcess>& processes, Observer& observer);

}  // namespace sonde::rules
