#include "analysis/engine/critical/path_parts.h"

#include "analysis/store/read_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace sonde::engine::critical {
namespace {

using graph::EdgeKind;
using graph::Graph;
using graph::LaneIndex;
using graph::NodeKind;

// A slice, as much of it as names a part.
struct Slice {
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  std::string_view kind;
  std::int64_t nameId = 0;

  SONDE_COLUMNS(startNs, endNs, kind, nameId)
};

struct Name {
  std::string_view text;

  SONDE_COLUMNS(text)
};

PathCause causeOf(std::string_view kind, PathCause outer) {
  if (kind == "data_load" || outer == PathCause::Loader)
    return PathCause::Loader;
  if (kind == "io")
    return PathCause::Io;
  return kind == "wait" ? PathCause::Wait : PathCause::Host;
}

// A path part of a thread, to be split by its slices.
struct Stretch {
  std::size_t element;
  std::int64_t beginNs;
  std::int64_t endNs;
};

struct Labelled {
  std::int64_t beginNs;
  std::int64_t endNs;
  PathCause cause;
  std::int64_t nameId;  // 0: nothing recorded
};

// Splits the stretches of one thread by its innermost slices. Both come in order.
class Splitter {
 public:
  Splitter(const std::vector<Stretch>& stretches, std::vector<std::vector<Labelled>>& into)
      : stretches_(stretches), into_(into) {}

  void add(const Slice& slice) {
    passTo(slice.startNs);
    if (slice.endNs <= slice.startNs)
      return;
    const PathCause outer = open_.empty() ? PathCause::Host : open_.back().cause;
    // A slice that outlives the one around it ends with it.
    const std::int64_t end =
        open_.empty() ? slice.endNs : std::min(slice.endNs, open_.back().endNs);
    open_.push_back({slice.startNs, end, causeOf(slice.kind, outer), slice.nameId});
  }

  void finish() {
    while (!open_.empty())
      passTo(open_.back().endNs);
    passTo(INT64_MAX);
  }

  bool isDone() const noexcept { return next_ == stretches_.size(); }

 private:
  void passTo(std::int64_t ns) {
    while (!open_.empty() && open_.back().endNs <= ns) {
      label(open_.back().endNs);
      open_.pop_back();
    }
    label(ns);
  }

  // The time until `ns` is that of the innermost open slice.
  void label(std::int64_t ns) {
    while (next_ < stretches_.size() && stretches_[next_].beginNs < ns) {
      const Stretch& at = stretches_[next_];
      const std::int64_t begin = std::max(at.beginNs, now_);
      const std::int64_t end = std::min(at.endNs, ns);
      if (end > begin)
        into_[at.element].push_back({begin,
                                     end,
                                     open_.empty() ? PathCause::Host : open_.back().cause,
                                     open_.empty() ? 0 : open_.back().nameId});
      if (at.endNs > ns)
        break;
      ++next_;
    }
    now_ = std::max(now_, ns);
  }

  const std::vector<Stretch>& stretches_;
  std::vector<std::vector<Labelled>>& into_;
  std::vector<Labelled> open_;
  std::size_t next_ = 0;
  std::int64_t now_ = INT64_MIN;
};

class Namer {
 public:
  Namer(const store::Database& trace, const Graph& graph, const std::vector<Element>& path)
      : trace_(trace), graph_(graph), path_(path), labels_(path.size()) {}

  Result<std::vector<PathPart>> name() {
    SONDE_TRY(splitThreads());
    for (std::size_t i = 0; i < path_.size(); ++i)
      SONDE_TRY(addParts(i));
    return std::move(parts_);
  }

 private:
  Result<void> splitThreads();
  Result<void> addParts(std::size_t index);
  Result<std::string> textOf(std::int64_t nameId);
  Result<std::string> workName(graph::NodeIndex node);

  bool isHost(const Element& each) const {
    return each.cause == Cause::Node && graph_.kind[each.node] == NodeKind::Host;
  }
  PathCause causeOfElement(const Element& each) const;

  const store::Database& trace_;
  const Graph& graph_;
  const std::vector<Element>& path_;
  std::vector<std::vector<Labelled>> labels_;  // by element
  std::vector<PathPart> parts_;
  std::unordered_map<std::int64_t, std::string> names_;  // by string id
};

Result<void> Namer::splitThreads() {
  std::map<LaneIndex, std::vector<Stretch>> threads;
  for (std::size_t i = 0; i < path_.size(); ++i)
    if (isHost(path_[i]))
      threads[graph_.lane[path_[i].node]].push_back({i, path_[i].beginNs, path_[i].endNs});
  for (const auto& [lane, stretches] : threads) {
    Splitter splitter(stretches, labels_);
    SONDE_TRY_ASSIGN(store::Statement rows,
                     trace_.prepare("SELECT start_ns, start_ns + dur_ns AS end_ns, kind, name_id "
                                    "FROM slice WHERE thread_id = ? AND lane = 0 AND dur_ns > 0 "
                                    "AND start_ns < ? ORDER BY start_ns, depth"));
    rows.bind(1, graph_.lanes[lane].id);
    rows.bind(2, stretches.back().endNs);
    SONDE_TRY(store::forEach<Slice>(rows, [&](const Slice& slice) { splitter.add(slice); }));
    splitter.finish();
  }
  return {};
}

PathCause Namer::causeOfElement(const Element& each) const {
  if (each.cause == Cause::Gap)
    return PathCause::Gap;
  if (each.cause == Cause::Lag)
    return graph_.edgeKind[each.edge] == EdgeKind::Launch ? PathCause::Launch : PathCause::WakeUp;
  switch (graph_.kind[each.node]) {
    case NodeKind::Kernel:
      return PathCause::Device;
    case NodeKind::Copy:
      return PathCause::Copy;
    case NodeKind::Transfer:
      return PathCause::Transfer;
    default:
      return PathCause::Host;
  }
}

Result<std::string> Namer::textOf(std::int64_t nameId) {
  if (nameId == 0)
    return std::string();
  const auto known = names_.find(nameId);
  if (known != names_.end())
    return known->second;
  SONDE_TRY_ASSIGN(store::Statement rows, trace_.prepare("SELECT text FROM string WHERE id = ?"));
  rows.bind(1, nameId);
  std::string text;
  SONDE_TRY(store::forEach<Name>(rows, [&](const Name& name) { text = name.text; }));
  return names_.emplace(nameId, text).first->second;
}

Result<std::string> Namer::workName(graph::NodeIndex node) {
  if (graph_.row[node] == 0)
    return std::string();
  const bool isCopy = graph_.kind[node] == NodeKind::Copy;
  SONDE_TRY_ASSIGN(
      store::Statement rows,
      trace_.prepare(
          isCopy ? "SELECT n.text FROM copy c JOIN string n ON n.id = c.name_id WHERE c.id = ?"
                 : "SELECT n.text FROM kernel k JOIN string n ON n.id = k.name_id WHERE k.id = ?"));
  rows.bind(1, graph_.row[node]);
  std::string text;
  SONDE_TRY(store::forEach<Name>(rows, [&](const Name& name) { text = name.text; }));
  return text;
}

Result<void> Namer::addParts(std::size_t index) {
  const Element& each = path_[index];
  const LaneIndex lane = graph_.lane[each.node];
  if (isHost(each)) {
    for (const Labelled& label : labels_[index]) {
      SONDE_TRY_ASSIGN(std::string text, textOf(label.nameId));
      parts_.push_back({lane, label.cause, std::move(text), label.beginNs, label.endNs});
    }
    return {};
  }
  std::string what;
  if (graph_.lanes[lane].kind == graph::LaneKind::Stream) {
    SONDE_TRY_ASSIGN(what, workName(each.node));
  }
  parts_.push_back({lane, causeOfElement(each), std::move(what), each.beginNs, each.endNs});
  return {};
}

}  // namespace

const char* nameOf(PathCause cause) noexcept {
  static constexpr std::array<const char*, kPathCauses> kNames = {
      "host", "loader", "io", "wait", "device", "copy", "transfer", "launch", "wake_up", "gap"};
  return kNames[static_cast<std::size_t>(cause)];
}

Result<std::vector<PathPart>> partsOf(const store::Database& trace,
                                      const Graph& graph,
                                      const std::vector<Element>& path) {
  return Namer(trace, graph, path).name();
}

std::vector<PathShare> sharesOf(const std::vector<PathPart>& parts) {
  std::map<std::tuple<LaneIndex, PathCause, std::string>, PathShare> sums;
  std::int64_t total = 0;
  for (const PathPart& part : parts) {
    const auto [place, isNew] = sums.try_emplace({part.lane, part.cause, part.what});
    PathShare& sum = place->second;
    if (isNew)
      sum = {part.lane, part.cause, part.what};
    sum.ns += part.lengthNs();
    ++sum.parts;
    total += part.lengthNs();
  }
  std::vector<PathShare> shares;
  for (auto& [key, sum] : sums) {
    sum.share = total > 0 ? static_cast<double>(sum.ns) / static_cast<double>(total) : 0;
    shares.push_back(std::move(sum));
  }
  std::stable_sort(shares.begin(), shares.end(), [](const PathShare& a, const PathShare& b) {
    return a.ns > b.ns;
  });
  return shares;
}

}  // namespace sonde::engine::critical
