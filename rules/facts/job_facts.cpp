#include "rules/facts/job_facts.h"

#include "analysis/engine/statistics/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace sonde::rules {

namespace metrics = engine::metrics;

Result<RankList> RankList::read(const store::Database& trace) {
  RankList list;
  SONDE_TRY_ASSIGN(list.ranks, metrics::readRanks(trace));
  if (auto sources = trace.queryText("SELECT value FROM meta WHERE key = 'sources'"))
    list.sources = *std::move(sources);
  return list;
}

bool RankList::mayHave(std::string_view probe) const noexcept {
  if (sources.empty())
    return true;
  for (std::string_view rest = sources; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (rest.substr(0, comma) == probe)
      return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

std::string RankList::nameOf(std::int64_t processId,
                             std::optional<std::int64_t> rank,
                             std::int64_t pid) const {
  const auto known = std::find_if(
      ranks.begin(), ranks.end(), [&](const auto& each) { return each.processId == processId; });
  if (known != ranks.end())
    return known->name;
  return rank ? fmt::format("rank {}", *rank) : fmt::format("process {}", pid);
}

Result<DeviceFacts> DeviceFacts::read(const store::Database& trace) {
  DeviceFacts facts;
  SONDE_TRY_ASSIGN(facts.list, RankList::read(trace));
  SONDE_TRY_ASSIGN(facts.summary, engine::device::summarise(trace, facts.list.ranks));
  return facts;
}

Result<LagFacts> LagFacts::read(const store::Database& trace) {
  LagFacts facts;
  SONDE_TRY_ASSIGN(facts.list, RankList::read(trace));
  SONDE_TRY_ASSIGN(const auto collectives, engine::device::readCollectives(trace));
  facts.clocks = engine::device::checkClocks(collectives);
  facts.lags = engine::device::lagsByIteration(collectives, facts.list.ranks);
  std::vector<double> durations;
  for (const metrics::RankProcess& rank : facts.list.ranks)
    for (const metrics::IterationTime& each : rank.iterations)
      durations.push_back(static_cast<double>(each.durNs));
  if (!durations.empty())
    facts.iterationNs = metrics::median(durations);
  return facts;
}

Result<TimeFacts> TimeFacts::read(const store::Database& trace) {
  TimeFacts facts;
  SONDE_TRY_ASSIGN(facts.list, RankList::read(trace));
  for (const metrics::RankProcess& rank : facts.list.ranks) {
    SONDE_TRY_ASSIGN(metrics::RankTime time, metrics::timeOf(trace, rank));
    facts.times.push_back(std::move(time));
  }
  return facts;
}

Result<StallFacts> StallFacts::read(const store::Database& trace) {
  StallFacts facts;
  SONDE_TRY_ASSIGN(facts.list, RankList::read(trace));
  for (const metrics::RankProcess& rank : facts.list.ranks) {
    SONDE_TRY_ASSIGN(metrics::RankStalls stalls, metrics::stallsOf(trace, rank, std::nullopt));
    facts.stalls.push_back(std::move(stalls));
  }
  return facts;
}

Result<ChangeFacts> ChangeFacts::read(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const std::vector<metrics::RankProcess> ranks, metrics::readRanks(trace));
  ChangeFacts facts;
  SONDE_TRY_ASSIGN(facts.ranks, engine::changes::iterationChanges(trace, ranks));
  return facts;
}

}  // namespace sonde::rules
