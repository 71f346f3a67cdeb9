// The collectives of a job with all of their ranks: who came last, how long the others waited for
// it, and how fast data moved then. Plain values; reading uses the database's thread.
//
// A rank arrives when its kernel begins, where a device runs the collective, else when its call
// does. It cannot end before all have arrived that it needs: all others, of a broadcast and a
// scatter the root, of a reduce and a gather the root all others. What it spends until then is
// waiting, and the rest of its time transfer. Times are on the job's common clock.
#pragma once

#include "analysis/engine/device/spread.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::device {

struct Arrival {
  std::int64_t processId = 0;
  std::optional<std::int64_t> rank;
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
  std::int64_t waitNs = 0;  // until all had arrived that it needs; all 0 where that is not known
  std::int64_t transferNs = 0;   // the rest
  std::int64_t hostBeginNs = 0;  // beginNs in the time of its own host
  bool isRoot = false;
};

struct JoinedCollective {
  std::string group;  // `communicator.job_key`
  std::optional<std::int64_t> seq;
  std::string op;
  std::int64_t size = 0;  // ranks of the group, here or not
  std::optional<std::int64_t> bytes;
  std::vector<Arrival> arrivals;  // by rank, then by process; never empty
  std::size_t last = 0;           // in `arrivals`: who came last

  std::int64_t firstArrivalNs() const noexcept;
  std::int64_t lastArrivalNs() const noexcept { return arrivals[last].beginNs; }
  std::int64_t lastEndNs() const noexcept;
  std::int64_t firstEndNs() const noexcept;
  std::int64_t longestTransferNs() const noexcept;  // of a rank
  bool fits = true;                                 // see above
  bool isKnown = true;                              // who needs whom, and the root is here
  bool isJoined() const noexcept { return arrivals.size() > 1; }
  bool isSplit() const noexcept {
    return isJoined() && fits && isKnown;
  }                               // waiting is told from
                                  // transfer
  bool isWhole() const noexcept;  // every rank of the group is here
};

// By the first arrival. Collectives whose ends are not known are left out; a send or a receive
// stands alone.
Result<std::vector<JoinedCollective>> readCollectives(const store::Database& trace);

// What bus bandwidth is of algorithm bandwidth (bytes over time) with `ranks`: 2(n-1)/n of an
// allreduce, (n-1)/n of what sends each rank's part to all others, else 1.
// Source: github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md.
double busFactor(std::string_view op, std::int64_t ranks) noexcept;

// Collectives of one kind, size and number of ranks.
struct CollectiveRow {
  std::string op;
  std::int64_t size = 0;  // ranks
  std::optional<std::int64_t> bytes;
  Spread ns;                    // of each rank's call
  double share = 0;             // of the ranks' time in all collectives
  std::int64_t waitNs = 0;      // sums over the ranks that are here
  std::int64_t transferNs = 0;  // with waitNs: ns.total of those that are split
  std::int64_t unfit = 0;       // joined, and not split
  bool fromTransfers = false;   // bandwidths are of the longest transfer of a rank;
                                // else of whole calls, of which part may be waiting
  std::optional<double> algorithmBytesPerSecond;  // medians; none without a size
  std::optional<double> busBytesPerSecond;
};

// By their total, the longest first.
std::vector<CollectiveRow> collectiveRows(const std::vector<JoinedCollective>& collectives);

// Whether the ranks' clocks agree well enough to say who was late. Ranks leave a rendezvous
// together, so a spread of their ends that is not small beside that of their arrivals is of clocks.
struct ClockCheck {
  std::int64_t collectives = 0;  // that were looked at
  std::int64_t endSpreadNs = 0;  // medians
  std::int64_t arrivalSpreadNs = 0;
  bool agree = true;
};
ClockCheck checkClocks(const std::vector<JoinedCollective>& collectives);

}  // namespace sonde::engine::device
