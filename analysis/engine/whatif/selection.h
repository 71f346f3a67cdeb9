// The work of a job that a selector means. Uses the database's thread while it reads; then plain
// values.
#pragma once

#include "analysis/engine/graph/trace_graph.h"
#include "analysis/engine/whatif/selector.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace sonde::engine::whatif {

// Time of a node that is selected.
struct SelectedPart {
  graph::NodeIndex node = 0;
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;

  std::int64_t lengthNs() const noexcept { return endNs - beginNs; }
};

// One kernel, copy or collective, or one stretch of a thread: parts [first, last). A slice inside
// another one that is selected belongs to that one's stretch.
struct SelectedThing {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

struct Selection {
  std::vector<SelectedThing> things;
  std::vector<SelectedPart> parts;
  std::vector<std::uint32_t> messages;  // edges of the graph whose lag is a message on its way

  bool isEmpty() const noexcept { return things.empty() && messages.empty(); }
};

enum class Launches : std::uint8_t {
  Left,
  Selected,  // also the calls that launch the selected device work
};

// Waits are not work: only what a thread does itself in a slice is selected. Time of a slice that
// also belongs to another thread or to a device is that one's. InvalidArgument: the pattern of a
// kind matches no kind. NotFound: nothing matches.
Result<Selection> select(const store::Database& trace,
                         const graph::TraceGraph& graph,
                         const Selector& selector,
                         Launches launches = Launches::Left);

}  // namespace sonde::engine::whatif
