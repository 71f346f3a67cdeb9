// How long collectives take, by their size and number of ranks: an α–β model, fitted to those of a
// trace. Plain values; any thread.
//
// A ring of n ranks takes s steps, each of which takes α and moves 1/n of the bytes at β for each
// byte: s = 2 (n - 1) for an all-reduce, n - 1 for all-gathers, reduce-scatters and all-to-alls.
// Other operations count as n - 1 steps that move all bytes together once.
#pragma once

#include "analysis/engine/whatif/job_collectives.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sonde::engine::whatif {

// The steps of a collective, and the bytes that a rank sends in all of them.
struct CollectiveCost {
  double steps = 0;
  double bytes = 0;
};
CollectiveCost costOf(const std::string& op, std::int64_t bytes, std::int64_t ranks);

struct NetworkModel {
  double stepNs = 0;  // α
  double byteNs = 0;  // β
  double error = 0;   // mean relative error over the sizes that it was fitted to
  // Different busy times. A single one does not tell α from β: α then counts as 0, and `error` is
  // one half.
  std::int64_t sizes = 0;

  double ns(const CollectiveCost& cost) const noexcept {
    return stepNs * cost.steps + byteNs * cost.bytes;
  }
};

// The model of each communicator, fitted to its busy times: from an arrival of all ranks until no
// collective is under way. Collectives that overlap share the network, so only together they show
// its speed. Uses busy times whose collectives are complete. Requires: `all` by last arrival.
std::map<std::string, NetworkModel> fitNetworks(const std::vector<JobCollective>& all);

}  // namespace sonde::engine::whatif
