// The nodes of each lane by time, while a graph is built. Within engine/graph.
#pragma once

#include "analysis/engine/graph/graph_builder.h"
#include "analysis/engine/waits/waits.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace sonde::engine::graph {

// Nodes of a lane are added one lane after the other, by time; they do not overlap.
class LaneNodes {
 public:
  explicit LaneNodes(GraphBuilder& builder) : builder_(builder) {}

  // Requires: `lane` is the next one.
  void beginLane() { first_.push_back(static_cast<NodeIndex>(builder_.soFar().nodes())); }
  NodeIndex add(NodeKind kind, std::int64_t beginNs, std::int64_t endNs, std::int64_t row);

  // The last node of the lane that ended by then; kNoNode: none.
  NodeIndex endedBy(LaneIndex lane, std::int64_t ns) const;
  // The first node of the lane that begins at that time or later; kNoNode: none.
  NodeIndex beginsFrom(LaneIndex lane, std::int64_t ns) const;
  std::pair<NodeIndex, NodeIndex> rangeOf(LaneIndex lane) const;

 private:
  GraphBuilder& builder_;
  std::vector<NodeIndex> first_;  // by lane
};

// The waits of a lane that begin and end together, and when it went on.
struct Resume {
  LaneIndex lane;
  std::int64_t idleFromNs;  // equal to atNs: it did not wait
  std::int64_t atNs;
  std::uint32_t firstWait;  // [firstWait, lastWait) of Waits::waits, sorted
  std::uint32_t lastWait;
  std::uint32_t meeting;  // kNoMeeting: none
};
inline constexpr std::uint32_t kNoMeeting = 0xFFFFFFFF;

// Sorts `waits.waits` and finds when each lane of a thread went on. By lane, then by time.
// `early`: how many waits ended before what they waited for; these are left out.
std::vector<Resume> resumesOf(waits::Waits& waits, const waits::Lanes& lanes, std::int64_t& early);

// When the last lane came to a meeting.
std::int64_t lastArrivalNs(const waits::Meeting& meeting);

}  // namespace sonde::engine::graph
