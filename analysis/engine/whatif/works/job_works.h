// The pieces of work that selectors select, with ids, and what can be done to each. Serves
// questions that see the job from outside. Uses the database's thread.
#pragma once

#include "analysis/engine/replay/iteration_nodes.h"
#include "analysis/engine/whatif/lane_lookup.h"
#include "analysis/engine/whatif/question.h"
#include "analysis/engine/whatif/selection.h"
#include "analysis/engine/whatif/thread_spans.h"
#include "analysis/engine/whatif/works/work_names.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace sonde::engine::whatif {

enum class WorkKind : std::uint8_t { Host, Kernel, Copy, Collective, Message };

using WorkNumber = std::uint64_t;  // from 1 on; valid for one JobWorks

struct Work {
  WorkNumber id = 0;
  WorkKind kind = WorkKind::Host;
  std::string name;  // may be empty
  std::string lane;
  std::int64_t rank = -1;       // -1: none
  std::int64_t iteration = -1;  // its number; -1: none
  std::int64_t beginNs = 0;     // as measured
  std::int64_t measuredNs = 0;
  std::int64_t nowNs = 0;
};

// Every function checks its arguments. InvalidArgument: one is wrong; the message says which.
class JobWorks {
 public:
  // Requires: both outlive this, and nobody restructures the scenario meanwhile.
  explicit JobWorks(Asking& asking);

  // By lane, then by begin; messages last. The same work has the same id. NotFound: nothing
  // matches.
  Result<std::vector<Work>> select(const std::string& selector);

  Result<void> scale(WorkNumber id, double factor);
  Result<void> set(WorkNumber id, std::int64_t ns);
  // It takes no time, nor does the call that launches it.
  Result<void> remove(WorkNumber id);
  // More work on the same lane, directly behind it; of a message, more time on its way.
  Result<void> insert(WorkNumber id, std::int64_t ns);

  Result<void> scaleSelected(const std::string& selector, double factor);
  Result<void> setSelected(const std::string& selector, std::int64_t ns);
  Result<void> removeSelected(const std::string& selector);

 private:
  struct Known {
    std::vector<SelectedPart> parts;  // empty: it is a message
    std::uint32_t edge = kNoEdge;
  };
  using Place = std::tuple<graph::NodeIndex, std::int64_t, std::int64_t, std::uint32_t>;
  using CallOf = std::pair<graph::LaneIndex, Span>;

  WorkNumber numberOf(Known known);
  Result<Work> describe(WorkNumber id);
  void describeMessage(Work& work, std::uint32_t edge) const;
  Result<const Known*> find(WorkNumber id) const;
  std::int64_t iterationOf(graph::LaneIndex lane, std::int64_t ns) const;
  double nowNs(const Known& known) const;
  void setTo(const Known& known, double ns, Origin origin);
  Result<void> readCalls();

  Asking& asking_;
  std::vector<graph::JobIteration> iterations_;
  replay::IterationWindows windows_;
  LaneLookup lookup_;
  std::optional<WorkNames> names_;
  std::vector<Known> known_;
  std::map<Place, WorkNumber> numbers_;
  std::optional<std::map<std::pair<bool, std::int64_t>, CallOf>> calls_;  // by isCopy and row
};

}  // namespace sonde::engine::whatif
