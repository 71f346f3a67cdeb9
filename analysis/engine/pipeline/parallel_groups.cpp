#include "analysis/engine/pipeline/parallel_groups.h"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace sonde::engine::pipeline {
namespace {

using whatif::CollectivePart;
using whatif::JobCollective;

// Communicators of as many ranks, which are as far apart.
struct Form {
  std::int64_t ranks = 0;
  std::int64_t stride = 0;

  auto operator<=>(const Form&) const = default;
};

// No form: the ranks are not evenly apart, or some are missing.
Form formOf(const JobCollective& collective, const graph::Graph& graph) {
  const auto rankOf = [&](const CollectivePart& part) { return graph.lanes[part.lane].rank; };
  const std::vector<CollectivePart>& parts = collective.parts;
  if (!collective.isComplete() || parts.size() < 2)
    return {};
  const Form form{collective.ranks, rankOf(parts[1]) - rankOf(parts[0])};
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (rankOf(parts[i]) - rankOf(parts[i - 1]) != form.stride)
      return {};
  return form;
}

std::int64_t ranksOf(const graph::Graph& graph) {
  std::set<std::int64_t> ranks;
  for (const graph::Lane& lane : graph.lanes)
    if (lane.rank >= 0)
      ranks.insert(lane.rank);
  return static_cast<std::int64_t>(ranks.size());
}

using Forms = std::map<Form, ParallelGroup>;

// Tensor-parallel ranks are neighbours, and another communicator leads from one such group to the
// next.
Forms::iterator tensorOf(Forms& forms, std::int64_t world) {
  for (auto each = forms.begin(); each != forms.end(); ++each)
    if (each->first.stride == 1 && each->first.ranks < world)
      for (const auto& [other, group] : forms)
        if (other.stride == each->first.ranks)
          return each;
  return forms.end();
}

// The copies of a model that is not divided by tensors are neighbours, too.
Forms::iterator dataOf(Forms& forms, std::int64_t tensorRanks) {
  for (auto each = forms.begin(); each != forms.end(); ++each)
    if (each->first.stride == tensorRanks)
      return each;
  return forms.end();
}

}  // namespace

Result<ParallelGroups> readGroups(const store::Database& trace, const graph::TraceGraph& job) {
  ParallelGroups groups;
  SONDE_TRY_ASSIGN(groups.all, whatif::readCollectives(trace, job));
  Forms forms;
  std::map<Form, std::set<std::string>> communicators;
  for (std::size_t i = 0; i < groups.all.size(); ++i) {
    const Form form = formOf(groups.all[i], job.graph);
    if (form.stride <= 0)
      continue;
    forms[form].ranks = form.ranks;
    forms[form].collectives.push_back(i);
    communicators[form].insert(groups.all[i].communicator);
  }
  for (auto& [form, group] : forms)
    group.communicators = static_cast<std::int64_t>(communicators[form].size());
  if (const auto tensor = tensorOf(forms, ranksOf(job.graph)); tensor != forms.end())
    groups.tensor = std::move(tensor->second);
  if (const auto data = dataOf(forms, groups.tensor.ranks); data != forms.end())
    groups.data = std::move(data->second);
  return groups;
}

}  // namespace sonde::engine::pipeline
