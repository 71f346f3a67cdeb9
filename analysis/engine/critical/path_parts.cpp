#include "analysis/engine/critical/path_parts.h"

#include "analysis/engine/critical/thread_labels.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

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

struct Name {
  std::string_view text;

  SONDE_COLUMNS(text)
};

class Namer {
 public:
  // `pathOf`: by element.
  Namer(const store::Database& trace,
        const Graph& graph,
        const std::vector<Element>& path,
        const std::vector<std::uint32_t>& pathOf)
      : trace_(trace), graph_(graph), path_(path), pathOf_(pathOf), labels_(path.size()) {}

  Result<std::vector<PathPart>> name() {
    SONDE_TRY_ASSIGN(clock_, align::JobClock::read(trace_));
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

  // Whether the slices inside of the node say what it did. A node with a row is that slice.
  bool hasSlices(const Element& each) const {
    return each.cause == Cause::Node && graph_.kind[each.node] == NodeKind::Host &&
           graph_.row[each.node] == 0;
  }
  PathCause causeOfElement(const Element& each) const;

  const store::Database& trace_;
  const Graph& graph_;
  const std::vector<Element>& path_;
  const std::vector<std::uint32_t>& pathOf_;
  align::JobClock clock_;
  std::vector<std::vector<ThreadLabel>> labels_;  // by element
  std::vector<PathPart> parts_;
  std::unordered_map<std::int64_t, std::string> names_;  // by string id
};

// Divides stretches into as few groups without overlaps as possible, each by begin. Paths of
// iterations that overlap may pass through the same time of a thread.
std::vector<std::vector<ThreadStretch>> withoutOverlaps(std::vector<ThreadStretch> stretches) {
  std::stable_sort(
      stretches.begin(), stretches.end(), [](const ThreadStretch& a, const ThreadStretch& b) {
        return a.beginNs < b.beginNs;
      });
  std::vector<std::vector<ThreadStretch>> groups;
  for (const ThreadStretch& each : stretches) {
    const auto free = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return group.back().endNs <= each.beginNs;
    });
    if (free == groups.end())
      groups.push_back({each});
    else
      free->push_back(each);
  }
  return groups;
}

Result<void> Namer::splitThreads() {
  std::map<LaneIndex, std::vector<ThreadStretch>> threads;
  for (std::size_t i = 0; i < path_.size(); ++i)
    if (hasSlices(path_[i]))
      threads[graph_.lane[path_[i].node]].push_back({i, path_[i].beginNs, path_[i].endNs});
  const auto keep = [&](const ThreadLabel& label) { labels_[label.stretch].push_back(label); };
  for (const auto& [lane, stretches] : threads)
    for (const std::vector<ThreadStretch>& group : withoutOverlaps(stretches))
      SONDE_TRY(labelThread(trace_, clock_, graph_.lanes[lane], group, keep));
  return {};
}

PathCause Namer::causeOfElement(const Element& each) const {
  if (each.cause == Cause::Gap)
    return PathCause::Gap;
  if (each.cause == Cause::Lag)
    switch (graph_.edgeKind[each.edge]) {
      case EdgeKind::Launch:
        return PathCause::Launch;
      case EdgeKind::Message:
        return PathCause::Transfer;
      default:
        return PathCause::WakeUp;
    }
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
  const bool isThread = graph_.lanes[graph_.lane[node]].kind == graph::LaneKind::Thread;
  const char* const table = isThread ? "slice" : isCopy ? "copy" : "kernel";
  SONDE_TRY_ASSIGN(
      store::Statement rows,
      trace_.prepare(fmt::format(
          "SELECT n.text FROM {} r JOIN string n ON n.id = r.name_id WHERE r.id = ?", table)));
  rows.bind(1, graph_.row[node]);
  std::string text;
  SONDE_TRY(store::forEach<Name>(rows, [&](const Name& name) { text = name.text; }));
  return text;
}

Result<void> Namer::addParts(std::size_t index) {
  const Element& each = path_[index];
  const LaneIndex lane = graph_.lane[each.node];
  if (hasSlices(each)) {
    for (const ThreadLabel& label : labels_[index]) {
      SONDE_TRY_ASSIGN(std::string text, textOf(label.nameId));
      parts_.push_back({lane,
                        each.node,
                        label.cause,
                        std::move(text),
                        label.beginNs,
                        label.endNs,
                        pathOf_[index]});
    }
    return {};
  }
  const bool isMessage =
      each.cause == Cause::Lag && graph_.edgeKind[each.edge] == EdgeKind::Message;
  SONDE_TRY_ASSIGN(std::string what,
                   isMessage ? textOf(graph_.lanes[lane].backgroundNameId) : workName(each.node));
  parts_.push_back({lane,
                    each.node,
                    causeOfElement(each),
                    std::move(what),
                    each.beginNs,
                    each.endNs,
                    pathOf_[index]});
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
  return Namer(trace, graph, path, std::vector<std::uint32_t>(path.size(), 0)).name();
}

Result<std::vector<PathPart>> partsOf(const store::Database& trace,
                                      const Graph& graph,
                                      const std::vector<IterationPath>& paths) {
  std::vector<Element> all;
  std::vector<std::uint32_t> pathOf;
  for (const IterationPath& each : paths) {
    all.insert(all.end(), each.path.begin(), each.path.end());
    pathOf.resize(all.size(), static_cast<std::uint32_t>(&each - paths.data()));
  }
  return Namer(trace, graph, all, pathOf).name();
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
