#include "analysis/engine/critical/second_parts.h"

#include "analysis/engine/critical/second_path.h"

namespace sonde::engine::critical {

Result<std::vector<std::optional<SecondPart>>> secondPartsOf(
    const store::Database& trace,
    const graph::Graph& graph,
    const std::vector<IterationPath>& paths) {
  std::vector<std::optional<SecondPart>> found(paths.size());
  std::vector<IterationPath> detours(paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto second =
        secondPath(graph, {graph.beginNs, graph.durNs}, paths[i].last, paths[i].beginNs);
    if (!second)
      continue;
    found[i].emplace().behindNs = second->behindNs;
    detours[i].path = {second->through};
  }
  SONDE_TRY_ASSIGN(const std::vector<PathPart> parts, partsOf(trace, graph, detours));
  for (const PathPart& part : parts)
    if (found[part.path] && part.lengthNs() > found[part.path]->through.lengthNs())
      found[part.path]->through = part;
  return found;
}

}  // namespace sonde::engine::critical
