// The steps of NCCL's proxies in a graph: the data of a collective that go from one host to
// another, chunk by chunk. Within engine/graph; reading uses the database's thread.
//
// Each end of a connection is a lane. A send is an instant: the kernel has given the chunk to the
// network. A receive lasts from then until the chunk has come. A connection carries one chunk at a
// time. A rank passes on what it has received: in a ring of which all have a part, step n needs
// step n - 1, elsewhere step n. One block of the kernel does both in turns, so a send also needs
// the receives before. ncclSend needs none. The kernel ends after its last receives.
#pragma once

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/graph/lane_nodes.h"
#include "analysis/engine/waits/lanes.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace sonde::engine::graph {

class ProxySteps {
 public:
  // Adds a lane to `lanes` for each end of a connection whose collectives have kernels.
  Result<void> read(const store::Database& trace,
                    const align::JobClock& clock,
                    waits::Lanes& lanes);

  // Completes the new lanes. Requires: `lanes` has as many as read() left.
  void describe(std::vector<Lane>& lanes) const;

  // Adds the nodes of a lane; none if it is no connection.
  void addNodes(LaneIndex lane, LaneNodes& nodes);

  // When the last chunk of a kernel came, at `endNs` or earlier; its begin if none did. nullopt: it
  // has no steps.
  std::optional<std::int64_t> lastReceiveNs(LaneIndex stream,
                                            std::int64_t beginNs,
                                            std::int64_t endNs) const;

  // Requires: all nodes were added.
  void addEdges(const LaneNodes& nodes, GraphBuilder& builder) const;

 private:
  using KernelPlace = std::pair<LaneIndex, std::int64_t>;  // its stream and begin
  using StepPlace = std::pair<std::size_t, std::size_t>;   // connection and step
  static constexpr StepPlace kUnknown{~std::size_t{0}, 0};

  struct Row;
  struct Step {
    std::int64_t startNs = 0;
    std::int64_t endNs = 0;
    KernelPlace kernel;  // that gave or takes the data
    std::int64_t kernelRow = 0;
    std::int64_t seq = 0;  // of its collective
    std::int64_t number = 0;
    std::int64_t lastNeeded = 0;  // of a send: the number of the receive that it passes on
    StepPlace sent = kUnknown;    // of a receive
    NodeIndex node = kNoNode;
  };
  struct Connection {
    Lane lane;
    std::int64_t peerChannelId = 0;
    std::int64_t blockId = 0;  // ends that one block of a kernel serves have the same
    bool isSend = false;
    bool isOwnData = false;   // of ncclSend
    std::vector<Step> steps;  // by end if it receives, else by begin
  };
  using Receivers = std::vector<std::size_t>;  // connections

  std::size_t connectionOf(const Row& row);
  void sortSteps();
  void findSends(const align::JobClock& clock);
  // The last step of each receiver that had ended by then, of those for the kernel up to a number.
  std::vector<const Step*> endedBy(const Receivers& receivers,
                                   const KernelPlace& kernel,
                                   std::int64_t ns,
                                   std::int64_t number = INT64_MAX) const;
  void addSendEdges(const Connection& by,
                    NodeIndex kernel,
                    const Step& step,
                    GraphBuilder& to) const;

  LaneIndex first_ = 0;  // lane of the first connection
  std::vector<Connection> connections_;
  std::map<std::int64_t, std::size_t> ofChannel_;  // by row of `channel`
  std::map<std::int64_t, Receivers> ofBlock_;
  std::map<KernelPlace, Receivers> ofKernel_;  // of all that have steps
};

}  // namespace sonde::engine::graph
