#include "rules/iteration_feed.h"

#include "analysis/engine/iterations/iterations.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace sonde::rules {
namespace {

using store::Statement;

}  // namespace

Result<void> IterationFeed::readProcesses(const store::Database& trace) {
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace.prepare("SELECT p.id, p.rank, p.pid, h.name, count(*) OVER (PARTITION BY p.rank) > 1,"
                    " count(*) OVER () FROM process p JOIN host h ON h.id = p.host_id"
                    " WHERE EXISTS (SELECT 1 FROM iteration i WHERE i.process_id = p.id AND "
                    "i.dur_ns IS NOT NULL)"
                    " ORDER BY p.rank IS NULL, p.rank, p.id"));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return {};
    const bool ranked = !rows.isNull(1) || rows.integer(5) == 1;  // a single process is rank 0
    const bool shared = rows.integer(4) != 0;
    std::string name = ranked ? fmt::format("rank {}", rows.integer(1)) : "";
    if (!ranked || shared)
      name += fmt::format("{}process {}", ranked ? ", " : "", rows.integer(2));
    indexOf_[rows.integer(0)] = processes_.size();
    processes_.push_back(
        {rows.integer(0), std::move(name), "host " + std::string(rows.text(3)), {}, {}});
  }
}

Result<void> IterationFeed::readIterations(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const auto iterations, engine::iterations::Iterations::read(trace));
  for (const engine::iterations::Iteration& each : iterations.all())
    if (each.durNs)
      processes_[indexOf_.at(each.processId)].steps.push_back(
          {each.number, {each.processId, each.startNs, *each.durNs, {}, each.isInner()}});
  for (Process& process : processes_)
    std::stable_sort(process.steps.begin(), process.steps.end(), [](const auto& a, const auto& b) {
      return a.first < b.first;
    });
  return {};
}

Result<void> IterationFeed::readScalars(const store::Database& trace) {
  SONDE_TRY_ASSIGN(Statement rows,
                   trace.prepare("SELECT s.process_id, s.iteration, n.text, s.value FROM scalar s"
                                 " JOIN string n ON n.id = s.name_id"
                                 " ORDER BY s.process_id, s.iteration, s.ts_ns"));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return {};
    const auto index = indexOf_.find(rows.integer(0));
    if (index == indexOf_.end())
      continue;
    Process& process = processes_[index->second];
    auto& steps = process.steps;
    if (rows.isNull(1)) {
      ++process.stray[std::string(rows.text(2))];
      continue;
    }
    const auto step = std::lower_bound(
        steps.begin(), steps.end(), rows.integer(1), [](const auto& each, std::int64_t number) {
          return each.first < number;
        });
    if (step == steps.end() || step->first != rows.integer(1)) {
      ++process.stray[std::string(rows.text(2))];
      continue;
    }
    // The store keeps NaN as NULL.
    const double value = rows.isNull(3) ? std::numeric_limits<double>::quiet_NaN() : rows.real(3);
    step->second.scalars.emplace_back(std::string(rows.text(2)), value);
  }
}

Result<IterationFeed> IterationFeed::read(const store::Database& trace) {
  IterationFeed feed;
  SONDE_TRY(feed.readProcesses(trace));
  SONDE_TRY(feed.readIterations(trace));
  SONDE_TRY(feed.readScalars(trace));
  return feed;
}

std::vector<Entity> IterationFeed::entities(Scope scope) const {
  std::vector<Entity> entities;
  for (const Process& process : processes_) {
    const std::string name = scope == Scope::Process ? process.name
                             : scope == Scope::Host  ? process.host
                                                     : "job";
    const auto same = std::find_if(entities.begin(), entities.end(), [&](const Entity& entity) {
      return entity.name == name;
    });
    if (scope == Scope::Process || same == entities.end())
      entities.push_back({name, {process.id}});
    else
      same->processes.push_back(process.id);
  }
  return entities;
}

std::vector<Step> IterationFeed::steps(const Entity& entity) const {
  std::vector<Step> steps;
  if (entity.processes.size() == 1) {  // an iteration number that repeats is two steps
    for (const auto& [number, part] : processes_[indexOf_.at(entity.processes.front())].steps)
      steps.push_back({number, {part}});
    return steps;
  }
  std::map<std::int64_t, std::vector<ProcessStep>> byNumber;
  for (const std::int64_t process : entity.processes)
    for (const auto& [number, part] : processes_[indexOf_.at(process)].steps)
      byNumber[number].push_back(part);
  for (auto& [number, parts] : byNumber)
    steps.push_back({number, std::move(parts)});
  return steps;
}

StrayScalars IterationFeed::strayScalars(const Entity& entity) const {
  StrayScalars sum;
  for (const std::int64_t process : entity.processes)
    for (const auto& [name, count] : processes_[indexOf_.at(process)].stray)
      sum[name] += count;
  return sum;
}

}  // namespace sonde::rules
