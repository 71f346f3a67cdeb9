#include "analysis/engine/calibration/calibrated_costs.h"

#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::engine::calibration {
namespace {

using correction::MeasuredCost;

constexpr double kPriorReach = 5;
constexpr double kLeastFound = 0.02;
// How well it is known what a call costs whose probe is off: no run shows that.
constexpr double kUnrecordedError = 0.5;

std::size_t placeOf(const std::vector<std::string>& probes, const std::string& probe) {
  return static_cast<std::size_t>(std::find(probes.begin(), probes.end(), probe) - probes.begin());
}

// Rows with a row for the same class and process behind them do not count.
std::vector<MeasuredCost> lastRows(const correction::CostTable& known) {
  std::vector<MeasuredCost> rows;
  for (const MeasuredCost& row : known.rows()) {
    const auto same = [&](const MeasuredCost& other) {
      return other.probe == row.probe && other.api == row.api && other.processId == row.processId;
    };
    std::erase_if(rows, same);
    rows.push_back(row);
  }
  return rows;
}

// Of the costs of one probe.
struct Sums {
  double knownNs = 0;
  double foundNs = 0;
  double unrecordedNs = 0;
};

// A call that is not recorded goes through the probe all the same: no difference shows that.
MeasuredCost times(MeasuredCost row, double factor, double error, std::string_view method) {
  const double kept = std::max(factor, 0.0);
  row.errorNs = std::hypot(row.cost.sumNs() * error, kUnrecordedError * row.unrecordedNs);
  row.cost = {row.cost.beforeNs * kept + row.unrecordedNs,
              row.cost.insideNs * kept,
              row.cost.afterNs * kept};
  row.method = method;
  return row;
}

// Errors of factors are errors of what was known; the table's are relative to what was found, which
// may be next to nothing.
void addCovariance(const std::vector<std::string>& probes,
                   const std::vector<Sums>& sums,
                   const Factors& factors,
                   correction::CostSet& into) {
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at < probes.size(); ++at)
    if (sums[at].knownNs > 0)
      found.push_back(at);
  const auto scale = [&](std::size_t at) {
    return sums[at].knownNs / std::max(sums[at].foundNs, kLeastFound * sums[at].knownNs);
  };
  for (const std::size_t at : found) {
    into.probes.push_back(probes[at]);
    into.covariance.emplace_back();
    for (const std::size_t other : found)
      into.covariance.back().push_back(factors.covariance[at][other] * scale(at) * scale(other));
    const double unrecorded =
        kUnrecordedError * sums[at].unrecordedNs / std::max(sums[at].foundNs, 1.0);
    into.covariance.back()[into.covariance.size() - 1] += unrecorded * unrecorded;
  }
}

}  // namespace

PriorErrors priorsOf(const correction::CostTable& known, const std::vector<std::string>& probes) {
  PriorErrors errors(probes.size(), std::numeric_limits<double>::infinity());
  for (const MeasuredCost& row : known.rows()) {
    const std::size_t place = placeOf(probes, row.probe);
    const double sum = row.cost.sumNs();
    if (place < probes.size() && sum > 0 && row.errorNs > 0)
      errors[place] = std::min(errors[place], kPriorReach * row.errorNs / sum);
  }
  return errors;
}

CalibratedCosts applyFactors(const correction::CostTable& known,
                             const std::vector<std::string>& probes,
                             const std::vector<double>& recordedNs,
                             const Factors& factors,
                             std::string_view method) {
  CalibratedCosts result;
  result.blocks = static_cast<std::int64_t>(factors.blocks);
  std::vector<Sums> sums(probes.size());
  for (MeasuredCost row : lastRows(known)) {
    const std::size_t place = placeOf(probes, row.probe);
    // What is known worse than before is left as it was.
    if (place == probes.size() ||
        row.cost.sumNs() * std::sqrt(factors.covariance[place][place]) >= row.errorNs)
      continue;
    sums[place].knownNs += row.cost.sumNs();
    row = times(
        std::move(row), factors.values[place], std::sqrt(factors.covariance[place][place]), method);
    sums[place].foundNs += row.cost.sumNs();
    sums[place].unrecordedNs += row.unrecordedNs;
    result.costs.rows.push_back(std::move(row));
  }
  addCovariance(probes, sums, factors, result.costs);
  double variance = 0;
  for (std::size_t at = 0; at < probes.size(); ++at) {
    result.overheadNs += factors.values[at] * recordedNs[at];
    const double own = std::max(factors.covariance[at][at], 0.0);
    result.shares.push_back(
        {probes[at], factors.values[at] * recordedNs[at], recordedNs[at] * std::sqrt(own)});
    for (std::size_t other = 0; other < probes.size(); ++other)
      variance += recordedNs[at] * recordedNs[other] * factors.covariance[at][other];
  }
  result.overheadErrorNs = std::sqrt(std::max(variance, 0.0));
  return result;
}

std::string textOf(const CalibratedCosts& costs) {
  std::string probes;
  for (const CalibratedCosts::Share& share : costs.shares)
    probes += fmt::format(R"({}{{"probe": "{}", "ns": {:.1f}, "error_ns": {:.1f}}})",
                          probes.empty() ? "" : ", ",
                          share.probe,
                          share.ns,
                          share.errorNs);
  return fmt::format(
      R"({{"iteration_ns": {:.1f}, "overhead_ns": {:.1f}, "error_ns": {:.1f}, "iterations": {}, )"
      R"("blocks": {}, "probes": [{}]}})",
      costs.iterationNs,
      costs.overheadNs,
      costs.overheadErrorNs,
      costs.iterations,
      costs.blocks,
      probes);
}

Result<void> storeCosts(store::Database& trace, const CalibratedCosts& costs) {
  SONDE_TRY_ASSIGN(store::Statement row,
                   trace.prepare("INSERT INTO overhead(probe, api, process_id, mean_ns, error_ns, "
                                 "n, method, before_ns, inside_ns, unrecorded_ns) "
                                 "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"));
  for (const MeasuredCost& cost : costs.costs.rows) {
    row.bindAll(std::string_view(cost.probe),
                std::string_view(cost.api),
                cost.processId,
                cost.cost.sumNs(),
                cost.errorNs,
                costs.iterations,
                std::string_view(cost.method),
                cost.cost.beforeNs,
                cost.cost.insideNs,
                cost.unrecordedNs);
    SONDE_TRY(row.run());
  }
  SONDE_TRY_ASSIGN(store::Statement pair,
                   trace.prepare("INSERT INTO overhead_covariance(probe, other_probe, covariance) "
                                 "VALUES(?1, ?2, ?3)"));
  for (std::size_t at = 0; at < costs.costs.probes.size(); ++at) {
    for (std::size_t other = 0; other < costs.costs.probes.size(); ++other) {
      pair.bindAll(std::string_view(costs.costs.probes[at]),
                   std::string_view(costs.costs.probes[other]),
                   costs.costs.covariance[at][other]);
      SONDE_TRY(pair.run());
    }
  }
  return {};
}

}  // namespace sonde::engine::calibration
