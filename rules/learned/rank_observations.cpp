// Whether ranks have equal tensors.
#include "rules/builtin/training/tensor_difference.h"
#include "rules/learned/observers.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace sonde::rules {
namespace {

// Statistics of equal tensors differ by less: ranks add up in different orders.
constexpr double kEqualShare = 1e-5;

using SeriesOfRanks = std::vector<const TensorSeries*>;

std::string equality(const SeriesOfRanks& ranks, std::int64_t iteration) {
  const TensorFact* first = nullptr;
  std::size_t recorded = 0;
  std::size_t different = 0;
  for (const TensorSeries* each : ranks)
    if (const TensorFact* const fact = recordingIn(*each, iteration)) {
      ++recorded;
      if (first == nullptr)
        first = fact;
      else
        different += differenceOf(*first, *fact).share > kEqualShare ? 1U : 0U;
    }
  if (recorded < 2)
    return "";
  return different == 0 ? "equal" : "different";
}

}  // namespace

void observeRanks(const std::vector<ObservedProcess>& processes, Observer& observer) {
  std::map<std::pair<std::string, std::string>, SeriesOfRanks> all;  // by collection and name
  for (const ObservedProcess& each : processes)
    if (each.facts->rank)
      for (const TensorSeries& series : each.facts->tensors)
        all[{series.collection, series.name}].push_back(&series);
  for (const auto& [name, ranks] : all) {
    if (ranks.size() < 2)
      continue;
    const std::string source = "tensors of " + name.first;
    std::set<std::int64_t> iterations;
    for (const TensorFact& fact : ranks.front()->values)
      if (observer.observes(fact.iteration))
        iterations.insert(fact.iteration);
    for (const std::int64_t iteration : iterations)
      if (std::string text = equality(ranks, iteration); !text.empty())
        observer.addText({"ranks", fmt::format("{} ({})", name.second, name.first), "ranks are"},
                         source,
                         observer.tick(iteration),
                         std::move(text));
  }
}

}  // namespace sonde::rules
