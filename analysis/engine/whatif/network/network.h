// The question how long a job would take on another network. Free functions.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <cstdint>
#include <optional>

namespace sonde::engine::whatif {

struct Network {
  std::optional<double> bytesPerNs = {};       // of a link, each way
  std::optional<double> bandwidthFactor = {};  // instead: times the present one
  std::optional<std::int64_t> latencyNs = {};  // of a step of a collective, and of a message
};

// Collectives get the time of an α–β model with the new bandwidth and latency; what is not given is
// as fitted to the trace's own collectives. NotFound: the trace has no collectives of all ranks.
Question network(Network of);

}  // namespace sonde::engine::whatif
