#include "analysis/engine/stragglers/trace_work.h"

#include "analysis/engine/critical/node_content.h"
#include "analysis/engine/replay/iteration_nodes.h"
#include "analysis/engine/replay/structures.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <map>
#include <utility>

namespace sonde::engine::stragglers {
namespace {

using critical::ContentPart;
using critical::PathCause;

struct Text {
  std::int64_t id = 0;
  std::string text;

  SONDE_COLUMNS(id, text)
};

std::uint32_t commonest(const std::vector<std::uint32_t>& values) {
  std::map<std::uint32_t, std::size_t> counts;
  for (const std::uint32_t each : values)
    ++counts[each];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      });
  return most == counts.end() ? 0 : most->first;
}

class Collector {
 public:
  Collector(const graph::TraceGraph& trace, Work& work) : trace_(trace), work_(work) {}

  // Leaves out iterations whose graph differs from that of most others, such as the first ones.
  Result<void> addSteps(const store::Database& trace) {
    const std::vector<replay::JobIteration> iterations = replay::jobIterations(trace_);
    work_.stepOf = replay::iterationOfNodes(trace_.graph, iterations);
    SONDE_TRY_ASSIGN(const std::vector<std::uint32_t> structures,
                     replay::structuresOf(trace, trace_.graph, iterations, work_.stepOf));
    const std::uint32_t usual = commonest(structures);
    std::vector<std::uint32_t> steps(iterations.size(), kNoStep);  // by iteration
    for (std::size_t i = 0; i < iterations.size(); ++i) {
      if (structures[i] != usual)
        continue;
      steps[i] = static_cast<std::uint32_t>(work_.steps.size());
      WorkStep& step = work_.steps.emplace_back();
      for (const graph::IterationNodes& rank : iterations[i].ranks) {
        step.firsts.push_back(rank.first);
        step.lasts.push_back(rank.last);
      }
    }
    for (std::uint32_t& step : work_.stepOf)
      if (step != replay::kNoIteration)
        step = steps[step];
    return {};
  }

  // Leaves out waits, and the transfers of collectives, which all ranks make together.
  void add(const ContentPart& part) {
    const std::int64_t rank = trace_.graph.lanes[trace_.graph.lane[part.node]].rank;
    if (rank < 0 || part.cause == PathCause::Wait || part.cause == PathCause::Transfer)
      return;
    work_.parts.push_back(
        {part.node, indexOfRank(rank), indexOfWhat(part.nameId, part.cause), part.ns});
  }

  // Messages from rank to rank. They are named after the collectives that the receiver serves.
  void addMessages() {
    const graph::Graph& graph = trace_.graph;
    for (graph::NodeIndex node = 0; node < graph.nodes(); ++node)
      for (std::uint32_t edge = graph.firstIn[node]; edge < graph.firstIn[node + 1]; ++edge) {
        const graph::Lane& to = graph.lanes[graph.lane[node]];
        const std::int64_t from = graph.lanes[graph.lane[graph.from[edge]]].rank;
        if (graph.edgeKind[edge] == graph::EdgeKind::Message && from >= 0 && to.rank >= 0 &&
            from != to.rank)
          work_.messages.push_back({edge,
                                    node,
                                    indexOfRank(from),
                                    indexOfWhat(to.backgroundNameId, PathCause::Transfer)});
      }
  }

  Result<void> nameAll(const store::Database& trace) {
    return store::forEach<Text>(trace, "SELECT id, text FROM string", [&](const Text& row) {
      const auto first = what_.lower_bound({row.id, PathCause::Host});
      for (auto each = first; each != what_.end() && each->first.first == row.id; ++each)
        work_.what[each->second].name = row.text;
    });
  }

 private:
  std::uint32_t indexOfRank(std::int64_t rank) {
    const auto [who, isNew] = ranks_.emplace(rank, static_cast<std::uint32_t>(work_.ranks.size()));
    if (isNew)
      work_.ranks.push_back(rank);
    return who->second;
  }
  std::uint32_t indexOfWhat(std::int64_t nameId, PathCause cause) {
    const auto [what, isNew] =
        what_.emplace(std::pair(nameId, cause), static_cast<std::uint32_t>(work_.what.size()));
    if (isNew)
      work_.what.push_back({nameId == 0 && cause == PathCause::Transfer ? "messages" : "", cause});
    return what->second;
  }

  const graph::TraceGraph& trace_;
  Work& work_;
  std::map<std::int64_t, std::uint32_t> ranks_;
  std::map<std::pair<std::int64_t, PathCause>, std::uint32_t> what_;
};

}  // namespace

Result<Work> workOf(const store::Database& trace, const graph::TraceGraph& graph) {
  Work work{graph.graph, graph.graph.gapNs, {}, {}, {}, {}, {}, {}};
  Collector collector(graph, work);
  SONDE_TRY(collector.addSteps(trace));
  if (work.steps.empty())
    return work;
  SONDE_TRY_ASSIGN(const std::vector<ContentPart> parts, critical::contentOf(trace, graph.graph));
  for (const ContentPart& part : parts)
    collector.add(part);
  collector.addMessages();
  SONDE_TRY(collector.nameAll(trace));
  return work;
}

}  // namespace sonde::engine::stragglers
