#include "analysis/engine/optimise/chain.h"

#include <algorithm>
#include <limits>

namespace sonde::engine::optimise {

ChainEnds replayChain(const std::vector<ChainLink>& chain,
                      const Buckets& buckets,
                      const SyncNs& syncNs) {
  ChainEnds ends;
  auto link = chain.begin();
  for (const std::size_t links : buckets) {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < links; ++i, ++link) {
      ends.computeNs += link->computeNs;
      bytes += link->bytes;
    }
    if (bytes > 0)
      ends.syncNs = std::max(ends.computeNs, ends.syncNs) + syncNs(bytes);
  }
  return ends;
}

bool opFusionHelps(const ChainLink& first,
                   const ChainLink& second,
                   double fusedNs,
                   const SyncNs& syncNs) {
  const double firstSyncNs = first.bytes > 0 ? syncNs(first.bytes) : 0;
  return firstSyncNs <= first.computeNs + second.computeNs - fusedNs;
}

bool tensorFusionHelps(const ChainEnds& first,
                       double secondEndNs,
                       std::int64_t firstBytes,
                       std::int64_t secondBytes,
                       const SyncNs& syncNs) {
  return first.syncNs > secondEndNs + syncNs(firstBytes + secondBytes) - syncNs(secondBytes);
}

Buckets bestBuckets(const std::vector<ChainLink>& chain, const SyncNs& syncNs) {
  struct Prefix {
    double computeNs = 0;
    double syncNs = std::numeric_limits<double>::infinity();
    std::size_t lastBucket = 0;  // links
    std::int64_t bytes = 0;      // of all links
  };
  std::vector<Prefix> prefixes(chain.size() + 1);
  prefixes.front().syncNs = 0;
  for (std::size_t end = 1; end <= chain.size(); ++end) {
    Prefix& of = prefixes[end];
    of.computeNs = prefixes[end - 1].computeNs + chain[end - 1].computeNs;
    of.bytes = prefixes[end - 1].bytes + chain[end - 1].bytes;
    for (std::size_t begin = 0; begin < end; ++begin) {
      const Prefix& before = prefixes[begin];
      const std::int64_t bytes = of.bytes - before.bytes;
      const double ns =
          bytes > 0 ? std::max(of.computeNs, before.syncNs) + syncNs(bytes) : before.syncNs;
      if (ns >= of.syncNs)
        continue;
      of.syncNs = ns;
      of.lastBucket = end - begin;
    }
  }
  Buckets buckets;
  for (std::size_t end = chain.size(); end > 0; end -= prefixes[end].lastBucket)
    buckets.push_back(prefixes[end].lastBucket);
  std::reverse(buckets.begin(), buckets.end());
  return buckets;
}

}  // namespace sonde::engine::optimise
