// Other ways to look at a tree of calls: from the leaves to their callers, and by name. Pure
// functions.
#pragma once

#include "analysis/engine/callpaths/call_tree.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::callpaths {

// The time that each path has itself, by the path from its last frame to its first. So the first
// level has the own time of each name, and the levels below it divide that by callers.
[[nodiscard]] CallTree inverted(const CallTree& tree);

// The time of one name, wherever it is. Calls of a name from itself count once in `totalNs`.
struct NameTime {
  CallName name = 0;
  std::int64_t totalNs = 0;
  std::int64_t selfNs = 0;
  std::int64_t count = 0;
};

// The times of all names, the longest first.
[[nodiscard]] std::vector<NameTime> timesByName(const CallTree& tree);

// The node of the same path in another tree. If it has none, that of the longest part of the path
// that it has.
[[nodiscard]] CallNode samePath(const CallTree& tree, CallNode node, const CallTree& other);

// The time of the frames whose name is marked, as a flame graph shows it: a frame below another
// marked one does not count again. Requires: a mark for each text.
[[nodiscard]] std::int64_t timeOf(const CallTree& tree, const std::vector<bool>& marked);

// The frames directly around and below the frames of a name, with the time that they share with it.
// `name` 0 stands for the root.
struct Neighbour {
  CallName name = 0;
  std::int64_t ns = 0;
  std::int64_t count = 0;  // events of the inner one of the two
};
struct Neighbours {
  NameTime time;
  std::vector<Neighbour> callers;  // those with more time first
  std::vector<Neighbour> callees;
};
[[nodiscard]] Neighbours neighboursOf(const CallTree& tree, CallName name);

}  // namespace sonde::engine::callpaths
