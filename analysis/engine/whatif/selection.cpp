#include "analysis/engine/whatif/selection.h"

#include "analysis/engine/whatif/job_lanes.h"
#include "analysis/engine/whatif/launches.h"
#include "analysis/engine/whatif/selected_kinds.h"
#include "analysis/engine/whatif/thread_spans.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace sonde::engine::whatif {
namespace {

using graph::EdgeKind;
using graph::Graph;
using graph::LaneIndex;
using graph::LaneKind;
using graph::NodeIndex;
using graph::NodeKind;

struct SliceRow {
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;

  SONDE_COLUMNS(threadId, startNs, durNs)
};

struct IdRow {
  std::int64_t id = 0;

  SONDE_COLUMNS(id)
};

constexpr const char* kNameMatches = "name_id IN (SELECT id FROM string WHERE text GLOB ?)";

// A query whose conditions are joined, with the values of its parameters.
struct Query {
  std::string sql;
  std::vector<std::string> values;

  void add(const std::string& condition, const std::string& value) {
    sql += " AND " + condition;
    values.push_back(value);
  }
};

template <typename Row, typename Each>
Result<void> forEach(const store::Database& trace, const Query& query, Each each) {
  SONDE_TRY_ASSIGN(store::Statement rows, trace.prepare(query.sql));
  for (std::size_t i = 0; i < query.values.size(); ++i)
    rows.bind(static_cast<int>(i) + 1, query.values[i]);
  return store::forEach<Row>(rows, each);
}

// The table of a node's row.
enum class Table : std::uint8_t { Kernel, Copy, Slice };
constexpr std::array<const char*, 3> kTables = {"kernel", "copy", "slice"};

using WorkId = std::pair<Table, std::int64_t>;
struct WorkHash {
  std::size_t operator()(const WorkId& id) const noexcept {
    return std::hash<std::int64_t>()(4 * id.second + static_cast<std::int64_t>(id.first));
  }
};
using WorkIds = std::unordered_set<WorkId, WorkHash>;

class Selecting {
 public:
  Selecting(const store::Database& trace,
            const Graph& graph,
            const Selector& selector,
            Launches launches)
      : trace_(trace), graph_(graph), selector_(selector), launches_(launches) {}

  Result<Selection> run() {
    SONDE_TRY_ASSIGN(kinds_, kindsOf(selector_));
    SONDE_TRY_ASSIGN(lanes_, JobLanes::read(trace_, graph_));
    for (NodeIndex node = 0; node < graph_.nodes() && !hasRows_; ++node)
      hasRows_ = graph_.row[node] != 0 && graph_.lanes[graph_.lane[node]].kind == LaneKind::Thread;
    SONDE_TRY(findContext());
    SONDE_TRY(findSpans());
    SONDE_TRY(addWork());
    addThreads();
    addMessages();
    if (found_.isEmpty())
      return notFound(
          fmt::format("nothing in the trace matches '{}': 'sonde report' and 'sonde graph "
                      "--critical-path' list "
                      "names",
                      selector_.text));
    return std::move(found_);
  }

 private:
  bool has(Key key) const { return selector_.globOf(key).has_value(); }
  bool has(Part part) const { return kinds_.has(part); }
  bool hasContext() const { return has(Key::Operator) || has(Key::Module) || has(Key::Operation); }
  bool isOfLane(LaneIndex lane) const {
    const auto rank = selector_.globOf(Key::Rank);
    return !rank || matches(*rank, std::to_string(graph_.lanes[lane].rank));
  }

  Result<ThreadSpans> spansOf(const Query& query) const;
  Result<void> findContext();
  Result<void> findSpans();
  Result<void> addWork();
  Result<void> addNamed(WorkIds& to) const;
  WorkId idOf(NodeIndex node) const;
  bool isSelected(NodeIndex node) const;
  void addThreads();
  void addThread(LaneIndex lane, NodeIndex first, NodeIndex last);
  void addMessages();
  void addThing(const std::vector<SelectedPart>& parts);

  const store::Database& trace_;
  const Graph& graph_;
  const Selector& selector_;
  Launches launches_;
  JobLanes lanes_;
  SelectedKinds kinds_;
  std::optional<ThreadSpans> context_;  // nullopt: no key asks for one
  std::optional<ThreadSpans> spans_;    // of threads; nullopt: their whole time
  bool hasRows_ = false;                // threads have nodes that are slices themselves
  Selection found_;
};

Result<ThreadSpans> Selecting::spansOf(const Query& query) const {
  ThreadSpans spans;
  SONDE_TRY(forEach<SliceRow>(trace_, query, [&](const SliceRow& row) {
    if (const auto slice = lanes_.ofThread(row))
      spans.add(slice->lane, slice->span);
  }));
  spans.join();
  return spans;
}

constexpr const char* kSlices = "SELECT thread_id, start_ns, dur_ns FROM slice WHERE dur_ns > 0";

Result<void> Selecting::findContext() {
  static constexpr std::array<std::pair<Key, const char*>, 3> kContexts = {
      {{Key::Operator, " AND kind = 'operator'"},
       {Key::Module, " AND kind = 'module'"},
       {Key::Operation,
        " AND kind IN ('phase', 'operation', 'iteration', 'micro_step', 'forward', 'backward', "
        "'optimizer', 'data_load', 'checkpoint', 'evaluation')"}}};
  for (const auto& [key, kinds] : kContexts) {
    const auto glob = selector_.globOf(key);
    if (!glob)
      continue;
    Query query{std::string(kSlices) + kinds, {}};
    query.add(kNameMatches, *glob);
    SONDE_TRY_ASSIGN(ThreadSpans spans, spansOf(query));
    context_ = context_ ? context_->with(spans) : std::move(spans);
  }
  return {};
}

// A thread has what its own slices and those around them select.
Result<void> Selecting::findSpans() {
  const bool isOnThreads = !has(Key::Stream) && (has(Part::Host) || !kinds_.slices.empty());
  if (!isOnThreads) {
    spans_.emplace();
    return {};
  }
  const bool isWhole = has(Part::Host) && !has(Key::Name) && !has(Key::Collective);
  if (isWhole) {
    spans_ = context_;
    return {};
  }
  Query query{kSlices, {}};
  if (!has(Part::Host))
    query.sql += fmt::format(" AND kind IN ('{}')", fmt::join(kinds_.slices, "', '"));
  if (const auto name = selector_.globOf(Key::Name))
    query.add(kNameMatches, *name);
  if (const auto op = selector_.globOf(Key::Collective)) {
    query.add("(id IN (SELECT slice_id FROM collective WHERE op GLOB ?)", *op);
    query.sql += fmt::format(" OR kind = 'collective'");
    query.add(std::string(kNameMatches) + ")", *op);
  }
  SONDE_TRY_ASSIGN(spans_, spansOf(query));
  if (context_)
    spans_ = spans_->with(*context_);
  return {};
}

WorkId Selecting::idOf(NodeIndex node) const {
  if (graph_.lanes[graph_.lane[node]].kind == LaneKind::Thread)
    return {Table::Slice, graph_.row[node]};
  return {graph_.kind[node] == NodeKind::Copy ? Table::Copy : Table::Kernel, graph_.row[node]};
}

// The work of the name and the collective.
Result<void> Selecting::addNamed(WorkIds& to) const {
  for (const Table table : {Table::Kernel, Table::Copy, Table::Slice}) {
    if ((table == Table::Copy && has(Key::Collective)) || (table == Table::Slice && !hasRows_))
      continue;
    Query query{fmt::format("SELECT id FROM {} WHERE 1", kTables[static_cast<std::size_t>(table)]),
                {}};
    if (const auto name = selector_.globOf(Key::Name))
      query.add(kNameMatches, *name);
    if (const auto op = selector_.globOf(Key::Collective)) {
      query.add(fmt::format("id IN (SELECT {}_id FROM collective WHERE op GLOB ?)",
                            kTables[static_cast<std::size_t>(table)]),
                *op);
    }
    SONDE_TRY(forEach<IdRow>(trace_, query, [&](const IdRow& row) { to.insert({table, row.id}); }));
  }
  return {};
}

bool Selecting::isSelected(NodeIndex node) const {
  const graph::Lane& lane = graph_.lanes[graph_.lane[node]];
  if (graph_.durNs[node] <= 0 || !isOfLane(graph_.lane[node]))
    return false;
  if (lane.kind == LaneKind::Connection)
    return has(Part::Message) && !has(Key::Name) && !hasContext() && !has(Key::Stream);
  const bool isThread = lane.kind == LaneKind::Thread;
  if (lane.kind == LaneKind::Meetings || (isThread && graph_.row[node] == 0))
    return false;
  const Part part = graph_.kind[node] == NodeKind::Copy       ? Part::Copy
                    : graph_.kind[node] == NodeKind::Transfer ? Part::Collective
                    : isThread                                ? Part::Host
                                                              : Part::Kernel;
  if (!has(part))
    return false;
  const auto stream = selector_.globOf(Key::Stream);
  return !stream || matches(*stream, lane.name) || matches("stream " + *stream, lane.name);
}

Result<void> Selecting::addWork() {
  std::optional<WorkIds> named;
  if (has(Key::Name) || has(Key::Collective)) {
    named.emplace();
    SONDE_TRY(addNamed(*named));
  }
  std::unordered_map<WorkId, NodeIndex, WorkHash> selected;
  for (NodeIndex node = 0; node < graph_.nodes(); ++node) {
    const WorkId id = idOf(node);
    if (isSelected(node) && (!named || named->contains(id)))
      selected.emplace(id, node);
  }
  const bool withCalls = launches_ == Launches::Selected && spans_;
  WorkIds inContext;
  if (!selected.empty() && (context_ || withCalls)) {
    SONDE_TRY(forEachLaunch(trace_, graph_, [&](const Launched& each) {
      const WorkId id{each.isCopy ? Table::Copy : Table::Kernel, each.row};
      if (!selected.contains(id) ||
          (context_ && !context_->contains(each.thread, each.call.beginNs)))
        return;
      inContext.insert(id);
      if (withCalls)
        spans_->add(each.thread, each.call);
    }));
    if (withCalls)
      spans_->join();
  }
  for (NodeIndex node = 0; node < graph_.nodes(); ++node) {
    const WorkId id = idOf(node);
    const auto of = selected.find(id);
    if (of != selected.end() && of->second == node && (!context_ || inContext.contains(id)))
      addThing({{node, graph_.beginNs[node], graph_.endNs(node)}});
  }
  return {};
}

void Selecting::addThing(const std::vector<SelectedPart>& parts) {
  if (parts.empty())
    return;
  const auto first = static_cast<std::uint32_t>(found_.parts.size());
  found_.parts.insert(found_.parts.end(), parts.begin(), parts.end());
  found_.things.push_back({first, static_cast<std::uint32_t>(found_.parts.size())});
}

// The nodes of a thread are neighbours.
void Selecting::addThreads() {
  for (NodeIndex first = 0; first < graph_.nodes();) {
    const LaneIndex lane = graph_.lane[first];
    NodeIndex last = first;
    while (last < graph_.nodes() && graph_.lane[last] == lane)
      ++last;
    if (graph_.lanes[lane].kind == LaneKind::Thread && isOfLane(lane))
      addThread(lane, first, last);
    first = last;
  }
}

void Selecting::addThread(LaneIndex lane, NodeIndex first, NodeIndex last) {
  if (!spans_) {
    for (NodeIndex node = first; node < last; ++node)
      if (graph_.durNs[node] > 0 && graph_.row[node] == 0)
        addThing({{node, graph_.beginNs[node], graph_.endNs(node)}});
    return;
  }
  std::vector<SelectedPart> parts;
  for (const Span& span : spans_->of(lane)) {
    while (first < last && graph_.endNs(first) <= span.beginNs)
      ++first;
    parts.clear();
    for (NodeIndex node = first; node < last && graph_.beginNs[node] < span.endNs; ++node) {
      const std::int64_t begin = std::max(graph_.beginNs[node], span.beginNs);
      const std::int64_t end = std::min(graph_.endNs(node), span.endNs);
      if (begin < end && graph_.row[node] == 0)
        parts.push_back({node, begin, end});
    }
    addThing(parts);
  }
}

// A message belongs to its sender, and to the collective that its receiver serves.
void Selecting::addMessages() {
  const bool isOwn = has(Part::Message) && !has(Key::Name) && !has(Key::Collective) &&
                     !hasContext() && !has(Key::Stream);
  for (NodeIndex node = 0; node < graph_.nodes(); ++node)
    for (std::uint32_t edge = graph_.firstIn[node]; edge < graph_.firstIn[node + 1]; ++edge) {
      if (graph_.edgeKind[edge] != EdgeKind::Message || graph_.lagNs[edge] == 0 ||
          !isOfLane(graph_.lane[graph_.from[edge]]))
        continue;
      const LaneIndex to = graph_.lane[node];
      const bool isOfCollective = has(Part::Collective) && spans_ &&
                                  graph_.lanes[to].background == graph::Background::Transfers &&
                                  spans_->contains(to, graph_.beginNs[node]);
      if (isOwn || isOfCollective)
        found_.messages.push_back(edge);
    }
}

}  // namespace

Result<Selection> select(const store::Database& trace,
                         const graph::TraceGraph& graph,
                         const Selector& selector,
                         Launches launches) {
  return Selecting(trace, graph.graph, selector, launches).run();
}

}  // namespace sonde::engine::whatif
