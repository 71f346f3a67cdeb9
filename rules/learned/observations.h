// The observations of a run for learned invariants: series of texts, which can only be equal or
// not, of numbers, which can be in a range, and of updates of weights, which can obey a law. The
// same code observes runs to learn from and runs to judge. Plain values; any thread.
#pragma once

#include "rules/facts/call_facts.h"
#include "rules/facts/process_facts.h"
#include "rules/learned/update_law.h"

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sonde::rules {

// When and where: iterations may have several values of a series (`part` counts them).
struct Tick {
  int process = 0;  // of RunObservations::processes; kWholeJob: of all ranks together
  std::int64_t iteration = 0;
  int part = 0;

  auto operator<=>(const Tick&) const = default;
};
inline constexpr int kWholeJob = -1;

// Names a series: it is the same in all runs, and for all ranks.
struct ObservationKey {
  std::string kind;     // one of observationKinds()
  std::string subject;  // "operator aten::mm", "fc1.weight (weights)", "scalar loss"
  std::string measure;  // "calls", "rms", "changes"

  auto operator<=>(const ObservationKey&) const = default;
};

struct ObservedSeries {
  std::string source;                               // a key of RunObservations::ticks
  std::vector<std::pair<Tick, std::string>> texts;  // one of these three has values
  std::vector<std::pair<Tick, double>> numbers;
  std::vector<std::pair<Tick, UpdatePoint>> updates;
};

struct RunObservations {
  std::string name;                    // its first trace
  std::vector<std::string> processes;  // "rank 0"
  std::int64_t iterations = 0;         // of all processes
  std::int64_t first = 0;              // the lowest number of an iteration
  // When a source recorded anything at all. A count without a value at such a tick is 0 there.
  std::map<std::string, std::vector<Tick>> ticks;
  std::map<ObservationKey, ObservedSeries> series;
};

// A process of a run: its values and its calls. Requires: not null.
struct ObservedProcess {
  const ProcessFacts* facts;
  const ProcessCalls* calls;
};

// At most this many of the first iterations of a process are observed.
inline constexpr std::size_t kMostObserved = 1000;

RunObservations observe(const std::string& name, const std::vector<ObservedProcess>& processes);

// Processes with their calls. Requires: both outlive the result.
std::vector<ObservedProcess> withCalls(const std::vector<const ProcessFacts*>& processes,
                                       const CallFacts& calls);

// Words for `kind`, in the order in which findings are most telling.
const std::vector<std::string>& observationKinds();

// Whether series of the measure are counts: without a value at a tick of their source they are 0.
bool isCount(const ObservationKey& key);

// Whether numbers of the measure are positive by their definition: their logarithms are compared.
bool isPositive(const ObservationKey& key);

// The range of a number has at least this much room on either side, whatever the runs say: shares
// that were 0 in all of them need not always be.
double leastRoom(const ObservationKey& key);

// The probes that record a source, with the option, for a message: "tensor (sonde run --sources
// +tensor, with weights in the --tensors file)".
std::string recorderOf(const std::string& source);

}  // namespace sonde::rules
