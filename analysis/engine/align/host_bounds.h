// How far the clocks of a job's hosts can be apart, from what one host did after another. Plain
// values; one thread.
#pragma once

#include "analysis/engine/align/end_differences.h"
#include "analysis/engine/align/envelope.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sonde::engine::align {

// The place of a host among the hosts of the job; 0 is the reference.
using HostIndex = std::uint32_t;

class HostBounds {
 public:
  explicit HostBounds(std::size_t hosts) : messages_(hosts, 0), collectives_(hosts, 0) {}

  // Host `from` did something at `sentNs`, by its clock. It had happened when host `to` had
  // received it at `receivedNs`, by the other clock. A pair of the same host is ignored.
  void addMessage(HostIndex from, HostIndex to, std::int64_t sentNs, std::int64_t receivedNs);
  // The same for a rank of `from` that arrived at a collective, and one of `to` that left it.
  void addArrival(HostIndex from, HostIndex to, std::int64_t arrivedNs, std::int64_t leftNs);
  // Ranks of two hosts left a collective together. They do so only nearly: used where messages do
  // not connect the hosts.
  void addTogether(HostIndex one, HostIndex other, std::int64_t oneNs, std::int64_t otherNs);
  void countCollective(HostIndex host) { ++collectives_[host]; }

  using Pair = std::pair<HostIndex, HostIndex>;
  struct PairBounds {
    HostIndex from;
    HostIndex to;
    std::vector<Bound> bounds;  // by time
  };
  // The bounds of each pair that has some, by its hosts.
  std::vector<PairBounds> pairs();

  std::size_t hosts() const noexcept { return messages_.size(); }
  // That the host sent or received, to or from other hosts.
  std::int64_t messages(HostIndex host) const { return messages_[host]; }
  // In which ranks of the host and of others took part.
  std::int64_t collectives(HostIndex host) const { return collectives_[host]; }

 private:
  using Key = std::uint64_t;
  static Key keyOf(HostIndex from, HostIndex to) noexcept { return Key{from} << 32U | to; }
  static Pair pairOf(Key key) noexcept {
    return {static_cast<HostIndex>(key >> 32U), static_cast<HostIndex>(key & 0xffffffffU)};
  }

  std::vector<std::int64_t> messages_;
  std::vector<std::int64_t> collectives_;
  std::unordered_map<Key, Envelope> ofMessages_;
  std::unordered_map<Key, Envelope> ofArrivals_;
  std::unordered_map<Key, EndDifferences> together_;
};

}  // namespace sonde::engine::align
