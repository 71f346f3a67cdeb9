#include "analysis/engine/correction/cost_table.h"

#include "analysis/store/each_row.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde::engine::correction {

EventCost usualSplit(std::string_view probe, std::string_view api, double sumNs) noexcept {
  const auto split = [sumNs](double before, double inside) {
    return EventCost{before * sumNs, inside * sumNs, (1 - before - inside) * sumNs};
  };
  if (probe == "cuda")
    return split(0.05, 0.85);
  if (probe == "torch")
    return split(0.3, 0.4);
  if (api.starts_with("scope") || api == "iteration")
    return split(0.5, 0.05);
  return split(0.1, 0.1);
}

Result<CostTable> CostTable::read(const store::Database& trace) {
  CostTable table;
  SONDE_TRY(table.readProcesses(trace));
  SONDE_TRY(table.readRows(trace));
  SONDE_TRY(table.readCovariance(trace));
  return table;
}

Result<void> CostTable::readProcesses(const store::Database& trace) {
  return store::forEachRow(trace,
                           "SELECT id, parent_id FROM process WHERE parent_id IS NOT NULL",
                           [this](const store::Statement& row) -> Result<void> {
                             parents_.emplace(row.integer(0), row.integer(1));
                             return {};
                           });
}

Result<void> CostTable::readRows(const store::Database& trace) {
  SONDE_TRY_ASSIGN(store::Statement row,
                   trace.prepare("SELECT probe, api, process_id, mean_ns, error_ns, method, "
                                 "before_ns, inside_ns, unrecorded_ns FROM overhead ORDER BY "
                                 "CASE method WHEN 'in-run' THEN 3 WHEN 'separate runs' THEN 2 "
                                 "WHEN 'assumed' THEN 0 ELSE 1 END, rowid"));
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, row.step());
    if (!more)
      return {};
    const double meanNs = row.real(3);
    if (!std::isfinite(meanNs) || !std::isfinite(row.real(4)) || !std::isfinite(row.real(6)) ||
        !std::isfinite(row.real(7)))
      return Error{
          ErrorCode::Corrupt,
          fmt::format(
              "the trace is damaged: the cost of {} {} is not a number", row.text(0), row.text(1))};
    EventCost cost = usualSplit(row.text(0), row.text(1), meanNs);
    cost.beforeNs = row.optionalReal(6).value_or(cost.beforeNs);
    cost.insideNs = row.optionalReal(7).value_or(cost.insideNs);
    cost.afterNs = meanNs - cost.beforeNs - cost.insideNs;
    add({std::string(row.text(0)),
         std::string(row.text(1)),
         row.optionalInteger(2),
         cost,
         std::abs(row.real(4)),
         std::string(row.text(5)),
         row.real(8)});
  }
}

void CostTable::add(MeasuredCost row) {
  places_[{row.processId.value_or(kAll), Place(row.probe, row.api)}] =
      static_cast<std::uint32_t>(rows_.size());
  rows_.push_back(std::move(row));
}

void CostTable::add(const CostSet& measured) {
  for (const MeasuredCost& row : measured.rows) {
    const Place place(row.probe, row.api);
    std::erase_if(places_, [&](const auto& each) { return each.first.second == place; });
    add(row);
  }
  // Drops covariances from other measurements that involve the probes measured now.
  const auto isMeasured = [&](const std::string& probe) {
    return std::find(measured.probes.begin(), measured.probes.end(), probe) !=
           measured.probes.end();
  };
  std::erase_if(covariance_, [&](const auto& each) {
    return isMeasured(each.first.second.first) || isMeasured(each.first.second.second);
  });
  for (std::size_t at = 0; at < measured.probes.size(); ++at)
    for (std::size_t other = 0; other < measured.probes.size(); ++other)
      covariance_[{kAll, {measured.probes[at], measured.probes[other]}}] =
          measured.covariance[at][other];
}

Result<void> CostTable::readCovariance(const store::Database& trace) {
  return store::forEachRow(
      trace,
      "SELECT probe, other_probe, max(covariance), process_id FROM overhead_covariance "
      "GROUP BY process_id, probe, other_probe",
      [this](const store::Statement& row) -> Result<void> {
        const double value = row.real(2);
        if (std::isfinite(value))
          covariance_[{row.optionalInteger(3).value_or(kAll),
                       {std::string(row.text(0)), std::string(row.text(1))}}] = value;
        return {};
      });
}

std::optional<double> CostTable::covariance(std::int64_t process,
                                            const std::string& probe,
                                            const std::string& other) const {
  const auto found = covariance_.find({process, {probe, other}});
  return found == covariance_.end() ? std::nullopt : std::optional(found->second);
}

void CostTable::assumeFreeWhileOff(const std::string& probe) {
  for (MeasuredCost& row : rows_)
    if (row.probe == probe)
      row.unrecordedNs = 0;
}

// Stops after some steps: in a damaged file, processes can be each other's parents.
std::optional<std::uint32_t> CostTable::find(const CostClass& of, std::int64_t processId) const {
  constexpr int kMostSteps = 1000;
  const Place place(of.probe, of.api);
  std::int64_t process = processId;
  for (int step = 0; step < kMostSteps; ++step) {
    if (const auto found = places_.find({process, place}); found != places_.end())
      return found->second;
    const auto parent = parents_.find(process);
    if (parent == parents_.end())
      break;
    process = parent->second;
  }
  if (const auto found = places_.find({kAll, place}); found != places_.end())
    return found->second;
  // Older traces have no class for launches.
  return of == CostClass{"cuda", "launch"} ? find({"cuda", "call"}, processId) : std::nullopt;
}

std::vector<EventCost> CostTable::costs() const {
  std::vector<EventCost> costs;
  for (const MeasuredCost& row : rows_)
    costs.push_back(row.cost);
  return costs;
}

}  // namespace sonde::engine::correction
