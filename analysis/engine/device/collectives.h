// The collectives of a job with all their ranks: who came last, how long the others waited, and how
// fast data moved afterwards. Plain values; reading uses the database's thread.
//
// A rank arrives when its kernel begins if a device runs the collective, else when its call begins.
// It cannot end before all ranks it needs have arrived. These are all other ranks; for a broadcast
// and a scatter only the root; for a reduce and a gather only the root needs the others. The time
// until then is waiting, the rest is transfer. Times are on the job's common clock.
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
  std::int64_t waitNs = 0;       // until all it needs had arrived; 0 for all ranks if unknown
  std::int64_t transferNs = 0;   // the rest
  std::int64_t hostBeginNs = 0;  // beginNs by the clock of its own host
  bool isRoot = false;
};

struct JoinedCollective {
  std::string group;  // `communicator.job_key`
  std::optional<std::int64_t> seq;
  std::string op;
  std::int64_t size = 0;  // ranks of the group, including those not in the trace
  std::optional<std::int64_t> bytes;
  std::vector<Arrival> arrivals;  // by rank, then by process; never empty
  std::size_t last = 0;           // in `arrivals`: the last to arrive

  std::int64_t firstArrivalNs() const noexcept;
  std::int64_t lastArrivalNs() const noexcept { return arrivals[last].beginNs; }
  std::int64_t lastEndNs() const noexcept;
  std::int64_t firstEndNs() const noexcept;
  std::int64_t longestTransferNs() const noexcept;  // of a rank
  bool fits = true;                                 // the times agree with the rule above
  bool isKnown = true;                              // who needs whom is known, and the root is here
  bool isJoined() const noexcept { return arrivals.size() > 1; }
  // Whether waiting and transfer are known separately.
  bool isSplit() const noexcept { return isJoined() && fits && isKnown; }
  bool isWhole() const noexcept;  // every rank of the group is here
};

// Ordered by first arrival. Leaves out collectives without a known end. A send or a receive stands
// alone.
Result<std::vector<JoinedCollective>> readCollectives(const store::Database& trace);

// Bus bandwidth divided by algorithm bandwidth (bytes over time): 2(n-1)/n for an allreduce,
// (n-1)/n if each rank's part goes to all others, else 1.
double busFactor(std::string_view op, std::int64_t ranks) noexcept;

// Collectives of one kind, size and number of ranks.
struct CollectiveRow {
  std::string op;
  std::int64_t size = 0;  // ranks
  std::optional<std::int64_t> bytes;
  Spread ns;                    // of each rank's call
  double share = 0;             // of the ranks' time in all collectives
  std::int64_t waitNs = 0;      // sums over the ranks in the trace
  std::int64_t transferNs = 0;  // waitNs + transferNs is ns.total of the split ones
  std::int64_t unfit = 0;       // joined but not split
  bool fromTransfers = false;   // bandwidths use the longest transfer of a rank; else whole calls,
                                // which may include waiting
  std::optional<double> algorithmBytesPerSecond;  // medians; unset without a size
  std::optional<double> busBytesPerSecond;
};

// Ordered by total, longest first.
std::vector<CollectiveRow> collectiveRows(const std::vector<JoinedCollective>& collectives);

// Whether the ranks' clocks agree well enough to find out who was late. Ranks leave a rendezvous
// together. So if the spread of their ends is not small beside that of their arrivals, clocks
// differ.
struct ClockCheck {
  std::int64_t collectives = 0;  // those examined
  std::int64_t endSpreadNs = 0;  // medians
  std::int64_t arrivalSpreadNs = 0;
  bool agree = true;
};
ClockCheck checkClocks(const std::vector<JoinedCollective>& collectives);

}  // namespace sonde::engine::device
