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
#include <string>
#include <vector>

namespace sonde::engine::whatif {

class TransferEdits {
 public:
  // Requires: `scenario` outlives this and is not restructured before apply().
  explicit TransferEdits(Scenario& scenario);

  // False: a device's kernel has its waiting and its transfer in one, as without the other ranks.
  // Requires: collectives by last arrival.
  bool set(const JobCollective& collective, double ns, Origin origin);

  // Errors are those of Scenario::restructure().
  Result<void> apply();

 private:
  struct NewTransfer {
    graph::NodeIndex node;
    std::int64_t ns;
    Origin origin;
  };

  bool setOnDevice(const JobCollective& collective, double ns, Origin origin);
  void replaceCalls(const JobCollective& collective, double ns, Origin origin);
  void replaceCall(const CollectivePart& part, graph::NodeIndex transfer);
  void dropMessages();
  // Whether the edge leads to what a call did for its own collective.
  bool isOfTransfer(std::uint32_t edge) const;
  graph::NodeIndex addNode();

  Scenario& scenario_;
  LaneLookup lookup_;
  Scenario::Structure structure_;
  std::vector<NewTransfer> transfers_;
  std::vector<bool> isReplaced_;                  // by node: inside of a call
  std::map<std::string, graph::NodeIndex> last_;  // by communicator
};

}  // namespace sonde::engine::whatif
