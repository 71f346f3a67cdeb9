#include "analysis/engine/changes/iteration_changes.h"

#include "analysis/engine/statistics/change_points.h"
#include "analysis/engine/statistics/series.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::engine::changes {
namespace {

using diff::IterationTimes;
using diff::Kind;
using metrics::RankProcess;
using statistics::LevelChange;
using Places = std::vector<std::size_t>;
using Values = std::vector<double>;

// The times on both sides of a change, up to the neighbouring changes.
struct Sides {
  std::size_t begin = 0;
  std::size_t at = 0;
  std::size_t end = 0;

  Values before(const Values& values) const { return part(values, begin, at); }
  Values after(const Values& values) const { return part(values, at, end); }

 private:
  static Values part(const Values& values, std::size_t from, std::size_t until) {
    return {values.begin() + static_cast<std::ptrdiff_t>(from),
            values.begin() + static_cast<std::ptrdiff_t>(until)};
  }
};

Sides sidesOf(const Places& places, std::size_t change, std::size_t count) {
  return {change == 0 ? 0 : places[change - 1],
          places[change],
          change + 1 < places.size() ? places[change + 1] : count};
}

bool matters(const LevelChange& change) {
  const bool isSure = change.low > 0 || change.high < 0;
  return isSure && std::abs(change.after - change.before) >= kLeastChange * change.before;
}

// Removes changes that do not matter, then looks at their neighbours again.
Places thatMatter(const Values& times) {
  Places places = statistics::changePoints(times);
  for (std::size_t i = 0; i < places.size();) {
    const Sides sides = sidesOf(places, i, times.size());
    if (matters(statistics::levelChange(sides.before(times), sides.after(times)))) {
      ++i;
      continue;
    }
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(i));
    i = 0;
  }
  return places;
}

std::int64_t whole(double ns) {
  return std::llround(ns);
}

void addMoved(const IterationTimes& times, const Sides& sides, IterationChange& change) {
  for (const auto& [subject, values] : times.times) {
    if (subject.kind == Kind::Iteration || values.size() != times.iterations.size())
      continue;
    const Moved moved{subject.kind,
                      subject.name.value_or("(outside)"),
                      whole(statistics::median(sides.before(values))),
                      whole(statistics::median(sides.after(values)))};
    if (moved.byNs() != 0)
      (subject.kind == Kind::Category ? change.categories : change.operations).push_back(moved);
  }
  for (auto* list : {&change.operations, &change.categories}) {
    std::stable_sort(list->begin(), list->end(), [](const Moved& a, const Moved& b) {
      return std::abs(a.byNs()) > std::abs(b.byNs());
    });
    list->resize(std::min(list->size(), kMostMoved));
  }
}

RankChanges changesOf(const RankProcess& rank, const IterationTimes& times, const Places& places) {
  const Values& durations = times.times.at({});
  RankChanges found;
  found.rank = rank.rank;
  found.process = rank.name;
  found.iterations = static_cast<std::int64_t>(durations.size());
  found.leftOut = static_cast<std::int64_t>(times.partial);
  found.isEnough = durations.size() >= statistics::kLeastForChange;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Sides sides = sidesOf(places, i, durations.size());
    const LevelChange level =
        statistics::levelChange(sides.before(durations), sides.after(durations));
    IterationChange& change = found.changes.emplace_back();
    change.number = rank.iterations[sides.at].number;
    change.atNs = rank.iterations[sides.at].startNs;
    change.iterationsBefore = static_cast<std::int64_t>(sides.at - sides.begin);
    change.iterationsAfter = static_cast<std::int64_t>(sides.end - sides.at);
    change.beforeNs = whole(level.before);
    change.afterNs = whole(level.after);
    change.lowNs = whole(level.low);
    change.highNs = whole(level.high);
    addMoved(times, sides, change);
  }
  return found;
}

// The ranks that have times, in the same order: readIterationTimes() returns no others.
std::vector<const RankProcess*> withIterations(const std::vector<RankProcess>& ranks) {
  std::vector<const RankProcess*> found;
  for (const RankProcess& rank : ranks)
    if (rank.iterates())
      found.push_back(&rank);
  return found;
}

}  // namespace

Result<std::vector<RankChanges>> iterationChanges(const store::Database& trace,
                                                  const std::vector<RankProcess>& ranks,
                                                  const diff::Correcting& correcting) {
  SONDE_TRY_ASSIGN(std::vector<IterationTimes> times,
                   diff::readIterationTimes(trace, {}, correcting));
  const std::vector<const RankProcess*> processes = withIterations(ranks);
  std::vector<Places> places;
  bool isAny = false;
  for (const IterationTimes& rank : times) {
    places.push_back(thatMatter(rank.times.at({})));
    isAny |= !places.back().empty();
  }
  // Looks for what moved only if there is a change: it reads the whole trace.
  if (isAny) {
    SONDE_TRY_ASSIGN(times,
                     diff::readIterationTimes(
                         trace, {.operation = true, .kernel = true, .category = true}, correcting));
  }
  std::vector<RankChanges> found;
  for (std::size_t at = 0; at < std::min(times.size(), processes.size()); ++at)
    found.push_back(changesOf(*processes[at], times[at], places[at]));
  return found;
}

}  // namespace sonde::engine::changes
