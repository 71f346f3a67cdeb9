// Times by path of calls, as a tree in arrays: no node has an object of its own. CallTreeBuilder
// makes it; then a plain value, for any thread.
#pragma once

#include "analysis/model/words.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sonde::engine::callpaths {

using CallNode = std::uint32_t;
using CallName = std::uint32_t;  // index in CallTree::texts
inline constexpr CallNode kRoot = 0;

// An event that a frame leads to.
struct Instance {
  enum class Table : std::uint8_t { None, Slice, Kernel, Copy };
  Table table = Table::None;
  std::int64_t id = 0;
  std::int64_t beginNs = 0;  // job time, not clipped
  std::int64_t endNs = 0;
  [[nodiscard]] std::int64_t durNs() const noexcept { return endNs - beginNs; }
};

// Nodes are numbered level by level: a parent comes before its children, and the children of a node
// are neighbours, those with more time first. Node 0 is the root; it has no name, and its total is
// the sum of its children's.
struct CallTree {
  std::vector<CallNode> parents;     // of the root: the root
  std::vector<CallNode> firstChild;  // one past the last node for a leaf of the last level
  std::vector<CallNode> childCount;
  std::vector<CallName> names;
  std::vector<std::uint16_t> depths;  // of the root: 0
  std::vector<std::int64_t>
      totalNs;  // sum over the events of the path; bytes if they are allocated
  // Total minus the children's totals. Events that overlap without nesting can make this negative:
  // then 0.
  std::vector<std::int64_t> selfNs;
  std::vector<std::int64_t> counts;  // events
  std::vector<Instance> longest;     // the longest event of the path
  // By name.
  std::vector<std::string> texts;
  std::vector<Instance::Table> tables;  // of its events; None: it only groups others, or samples
  // The kind of its first slice; Collective: kernels that communicate; unset: neither.
  std::vector<std::optional<model::SliceKind>> kinds;

  [[nodiscard]] std::size_t size() const noexcept { return parents.size(); }
  [[nodiscard]] bool empty() const noexcept { return size() <= 1; }
  [[nodiscard]] const std::string& textOf(CallNode node) const { return texts[names[node]]; }
  [[nodiscard]] CallNode endOfChildren(CallNode node) const {
    return firstChild[node] + childCount[node];
  }
};

class CallTreeBuilder {
 public:
  CallTreeBuilder();

  CallName nameOf(std::string_view text);
  // The first kind of a name counts.
  void setKind(CallName name, model::SliceKind kind);
  // The path `name` below `parent`. Equal paths have equal nodes.
  CallNode child(CallNode parent, CallName name);
  [[nodiscard]] CallNode parentOf(CallNode node) const { return nodes_[node].parent; }
  [[nodiscard]] CallName nameAt(CallNode node) const { return nodes_[node].name; }
  // Counts events at a path: their time also belongs to it if it is no leaf.
  void add(CallNode node, std::int64_t ns, std::int64_t count = 1);
  // The frame leads to the longest event that it was offered.
  void offer(CallNode node, const Instance& event);

  // Totals: the given time is the path's total, and the part that its children leave is its own.
  // Selves: the given time is the path's own, and its total also has that of its children.
  enum class Given : std::uint8_t { Totals, Selves };
  // Paths without events and below which there are none are left out. With Totals a path that was
  // given no time, such as that of a thread, has the sum of its children.
  [[nodiscard]] CallTree finish(Given given) &&;

 private:
  struct Node {
    CallNode parent = kRoot;
    CallName name = 0;
    std::int64_t ns = 0;
    std::int64_t count = 0;
    Instance longest = {};
  };
  void sumUp(Given given);
  [[nodiscard]] CallTree numbered();

  std::vector<Node> nodes_;
  std::vector<std::string> texts_;
  std::vector<std::optional<model::SliceKind>> kinds_;  // by name
  std::unordered_map<std::string, CallName> names_;
  std::unordered_map<std::uint64_t, CallNode> children_;  // by parent and name
  // By node, once summed up.
  std::vector<std::int64_t> totals_;
  std::vector<std::int64_t> selves_;
  std::vector<std::int64_t> counts_;
};

}  // namespace sonde::engine::callpaths
