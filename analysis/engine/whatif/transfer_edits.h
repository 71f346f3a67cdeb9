// Gives the transfers of collectives other durations. Plain values; any thread.
//
// On devices a collective's transfer is a node already. A call on threads, as of Gloo and MPI, is
// made of messages: all that belongs to it is replaced with one transfer, which begins when all
// ranks have come and the transfer before on its communicator has ended.
#pragma once

#include "analysis/engine/whatif/job_collectives.h"
#include "analysis/engine/whatif/lane_lookup.h"
#include "analysis/engine/whatif/scenario.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sonde::engine::whatif {

class TransferEdits {
 public:
  // Requires: `scenario` outlives this and is not restructured before apply().
  explicit TransferEdits(Scenario& scenario);

  // Whether an earlier question put another transfer in place of the collective's own.
  bool isReplaced(const JobCollective& collective) const;

  // Gives a collective another duration. Requires: !isReplaced(). False: a device's kernel has its
  // waiting and its transfer in one, as without the other ranks. Requires: collectives by last
  // arrival.
  bool set(const JobCollective& collective, double ns, Origin origin);

  // A transfer of its own, after the one that was added before for the communicator of `of`. It
  // moves `bytes` with the operation of `of`.
  graph::NodeIndex add(const JobCollective& of, std::int64_t bytes, double ns, Origin origin);
  // It begins when the lane has come this far in its measured time.
  void needs(graph::NodeIndex transfer, graph::LaneIndex lane, std::int64_t ns);
  // A part of a collective takes no time of its own, and ends with the transfer.
  void replace(const JobCollective& collective,
               const CollectivePart& part,
               graph::NodeIndex transfer);

  // The node waits for the transfer, too.
  void delays(graph::NodeIndex transfer, graph::NodeIndex node);
  // Nobody waits there any longer. Requires: add() was called.
  void drop(std::uint32_t edge) { structure_.dropped[edge] = true; }

  // Errors are those of Scenario::restructure().
  Result<void> apply();

  // The node of a device's transfer; kNoNode: the part has none of its own.
  graph::NodeIndex transferOf(const CollectivePart& part) const;
  // Whether the edge leads to what a call did for its own collective.
  bool isOfTransfer(std::uint32_t edge) const;
  const LaneLookup& lookup() const noexcept { return lookup_; }

 private:
  struct NewTransfer {
    MadeTransfer of;
    std::int64_t ns;
    Origin origin;
  };

  void needsCall(graph::NodeIndex transfer, const CollectivePart& part);
  void clearCall(const CollectivePart& part, graph::NodeIndex transfer);
  void dropMessages();
  graph::NodeIndex addNode();

  Scenario& scenario_;
  LaneLookup lookup_;
  Scenario::Structure structure_;
  std::vector<NewTransfer> transfers_;
  std::vector<bool> isInCall_;  // by node: inside of a replaced call
  std::set<CollectiveKey> replaced_;
  std::map<std::string, graph::NodeIndex> last_;  // by communicator
};

}  // namespace sonde::engine::whatif
