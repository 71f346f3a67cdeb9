// Converts times of hosts to the job's clock, by the rows of `clock_map`. Plain values; any thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sonde::engine::align {

// Converts the times of one host. Without rows, and before the first one, a time stays.
class HostClock {
 public:
  // From `fromNs` on, by the host's clock. Requires: ascending.
  void addPiece(std::int64_t fromNs, std::int64_t offsetNs, std::int64_t driftPpb) {
    pieces_.push_back({fromNs, offsetNs, driftPpb});
  }
  [[nodiscard]] std::int64_t toJob(std::int64_t hostNs) const;
  // The inverse, exact to the drift's rounding.
  [[nodiscard]] std::int64_t toHost(std::int64_t jobNs) const;

 private:
  struct Piece {
    std::int64_t fromNs;
    std::int64_t offsetNs;
    std::int64_t driftPpb;
  };
  std::vector<Piece> pieces_;
};

// The clocks of all hosts. Without rows in `clock_map` each host has a clock of its own.
class JobClock {
 public:
  JobClock() = default;  // no host is mapped, so all times stay
  static Result<JobClock> read(const store::Database& trace);

  // The clock of a host.id. A host that is not mapped keeps its times.
  [[nodiscard]] HostClock clockOf(std::int64_t hostId) const {
    const auto found = clocks_.find(hostId);
    return found == clocks_.end() ? HostClock() : found->second;
  }
  [[nodiscard]] std::int64_t toJob(std::int64_t hostId, std::int64_t hostNs) const;
  bool isMapped(std::int64_t hostId) const { return clocks_.contains(hostId); }
  // Whether times of the two hosts can be compared: they are the same, or both are mapped.
  bool areComparable(std::int64_t one, std::int64_t other) const {
    return one == other || (isMapped(one) && isMapped(other));
  }
  bool hasMappedHosts() const noexcept { return !clocks_.empty(); }

 private:
  std::unordered_map<std::int64_t, HostClock> clocks_;
};

// The clock of each process's host, by process.id.
using ProcessClocks = std::unordered_map<std::int64_t, HostClock>;
Result<ProcessClocks> readProcessClocks(const store::Database& trace);

}  // namespace sonde::engine::align
