// The backward pass of a worker and the reductions of its gradients as two queues, and which
// fusions make it shorter: the model of dPRO (Hu et al., MLSys 2022, section 5.1). Plain values;
// any thread.
//
// Operation n computes gradients, which are reduced after it, one bucket after the other. With the
// end p of an operation and q of a reduction, and their durations d:
//   p(n) = p(n-1) + dp(n)      q(n) = max(p(n), q(n-1)) + dq(n)
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace sonde::engine::optimise {

// How long the reduction of so many bytes takes, in ns. It grows with the bytes.
using SyncNs = std::function<double(std::int64_t bytes)>;

// An operation of the backward pass, and its gradients.
struct ChainLink {
  double computeNs = 0;
  std::int64_t bytes = 0;  // 0: it has no gradients
};

// Both queues after a link.
struct ChainEnds {
  double computeNs = 0;
  double syncNs = 0;
};

// How many links each bucket has, from the first link on.
using Buckets = std::vector<std::size_t>;

// Each bucket is reduced after its last link. Requires: `buckets` hold all links.
ChainEnds replayChain(const std::vector<ChainLink>& chain,
                      const Buckets& buckets,
                      const SyncNs& syncNs);

// Theorem 1: the fusion of two neighbouring operations into one of `fusedNs`, whose gradients are
// then ready together, delays no reduction if that of the first one is short enough. Without that
// it delays those of both, if `fusedNs` is at least the first operation's time; operations behind
// them begin earlier all the same.
bool opFusionHelps(const ChainLink& first,
                   const ChainLink& second,
                   double fusedNs,
                   const SyncNs& syncNs);

// Theorem 2: the gradients of two neighbouring operations reduced at once end earlier than one
// after the other if the reduction of the first ends late enough. `first` is the state after it, on
// its own; `secondEndNs` is when the second operation ends.
bool tensorFusionHelps(const ChainEnds& first,
                       double secondEndNs,
                       std::int64_t firstBytes,
                       std::int64_t secondBytes,
                       const SyncNs& syncNs);

// The buckets whose last reduction ends first. O(n²) for n links: the earlier a bucket ends, the
// earlier all after it do, so that the best ones of each prefix are enough.
Buckets bestBuckets(const std::vector<ChainLink>& chain, const SyncNs& syncNs);

}  // namespace sonde::engine::optimise
