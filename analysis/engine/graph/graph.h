// The data-flow graph of a job: what its threads and streams did, and what each part needed before
// it could begin. Plain values, held as arrays; nodes and edges are indices.
//
// A *lane* is a thread or a stream. A *node* is a stretch of a lane's time between two points at
// which lanes depend on each other, a kernel, a copy, or the transfer of a collective. A node
// begins when all it needs has ended, each plus the lag of its edge, and then its own *gap* has
// passed: the part of the delay that no edge explains. Gaps may be negative, where clocks disagree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace sonde::engine::graph {

using LaneIndex = std::uint32_t;
using NodeIndex = std::uint32_t;
inline constexpr NodeIndex kNoNode = std::numeric_limits<NodeIndex>::max();

enum class LaneKind : std::uint8_t {
  Thread,
  Stream,
  Connection,  // an end of a connection that NCCL's proxies use
  Meetings,    // the lane of all Meeting nodes
};

// The work of a thread.
enum class Background : std::uint8_t {
  Computes,
  Loads,      // its process loads data for a rank
  Transfers,  // it moves the data of collectives
};

struct Lane {
  LaneKind kind = LaneKind::Thread;
  std::int64_t id = 0;  // of the row of table thread, stream or channel
  std::int64_t processId = 0;
  std::int64_t hostId = 0;
  std::int64_t rank = -1;  // -1: none
  std::string name = {};   // such as "thread 4711" or "stream 7"
  // A thread does this where it recorded nothing.
  Background background = Background::Computes;
  std::int64_t backgroundNameId = 0;  // of table string; 0: none
  std::int64_t pid = 0;               // the number of its process, for people
};

// As people read it: "rank 3, stream 7", "process 4711, thread 4711". The host, device and
// communication threads of a rank are apart by their names.
std::string entityOf(const Lane& lane);

enum class NodeKind : std::uint8_t {
  Host,      // a thread's own time
  Kernel,    // of a collective: only its begin, without length
  Copy,      // a copy or memory set
  Transfer,  // a collective or message after all that it needs have come
  Meeting,   // an instant at which lanes have all arrived
  Anchor,    // an instant that depends on nothing, such as the begin of a step
};
inline constexpr std::size_t kNodeKinds = 6;

enum class EdgeKind : std::uint8_t {
  Order,       // the same thread or stream did it before
  Launch,      // a thread gave work to a stream
  Sync,        // a thread waited for a stream
  StreamWait,  // a stream waited for another one's event
  Handoff,     // a thread waited for a thread of its process
  Message,     // a thread waited for one of another process
  Arrival,     // a lane came to a meeting
  Release,     // a lane went on from a meeting
  Data,        // an operation needs the result of another one; a chunk that of another chunk
  Queue,       // a copy waited for the copy of another stream, on the same engine of its device
};
inline constexpr std::size_t kEdgeKinds = 10;

// The words of kinds, as JSON and `sonde graph` have them.
const char* nameOf(NodeKind kind) noexcept;
const char* nameOf(EdgeKind kind) noexcept;

struct Graph {
  std::vector<Lane> lanes;

  // By node. Times are the job's, in ns.
  std::vector<std::int64_t> beginNs;  // as measured
  std::vector<std::int64_t> durNs;
  std::vector<std::int64_t>
      gapNs;  // from the latest end, plus lag, of what it needs. 0 without any
  std::vector<LaneIndex> lane;
  std::vector<NodeKind> kind;
  std::vector<std::int64_t> row;  // id of the kernel, copy or slice that it stands for; 0: none

  // The needs of a node: entries [firstIn[n], firstIn[n + 1]) of the arrays below.
  std::vector<std::uint32_t> firstIn;  // one more than nodes
  std::vector<NodeIndex> from;
  std::vector<std::uint32_t> lagNs;  // passes after the end of `from`
  std::vector<EdgeKind> edgeKind;

  std::vector<NodeIndex> order;  // each node after all that it needs

  std::size_t nodes() const noexcept { return beginNs.size(); }
  std::size_t edges() const noexcept { return from.size(); }
  std::int64_t endNs(NodeIndex node) const noexcept { return beginNs[node] + durNs[node]; }
};

// The nodes that need a node: entries [firstOut[n], firstOut[n + 1]) of `to`; `edge` is the index
// of the edge in the graph.
struct Successors {
  std::vector<std::uint32_t> firstOut;
  std::vector<NodeIndex> to;
  std::vector<std::uint32_t> edge;
};
Successors successorsOf(const Graph& graph);

}  // namespace sonde::engine::graph
