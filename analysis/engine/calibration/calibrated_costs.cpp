#include "analysis/engine/calibration/calibrated_costs.h"

#include "analysis/store/statement.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::engine::calibration {
namespace {

using correction::MeasuredCost;

constexpr double kPriorReach = 5;

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
  result.costs.probes = probes;
  result.blocks = static_cast<std::int64_t>(factors.blocks);
  for (MeasuredCost row : lastRows(known)) {
    const std::size_t place = placeOf(probes, row.probe);
    if (place == probes.size())
      continue;
    const double factor = std::max(factors.values[place], 0.0);
    row.errorNs = row.cost.sumNs() * std::sqrt(factors.covariance[place][place]);
    // A call that is not recorded goes through the probe all the same: no difference shows that.
    row.cost = {row.cost.beforeNs * factor + row.unrecordedNs,
                row.cost.insideNs * factor,
                row.cost.afterNs * factor};
    row.method = method;
    result.costs.rows.push_back(std::move(row));
  }
  double variance = 0;
  for (std::size_t at = 0; at < probes.size(); ++at) {
    result.overheadNs += factors.values[at] * recordedNs[at];
    result.costs.covariance.emplace_back();
    for (std::size_t other = 0; other < probes.size(); ++other) {
      const double covariance = factors.covariance[at][other];
      variance += recordedNs[at] * recordedNs[other] * covariance;
      const double scale =
          std::max(factors.values[at], 1e-3) * std::max(factors.values[other], 1e-3);
      result.costs.covariance.back().push_back(covariance / scale);
    }
  }
  result.overheadErrorNs = std::sqrt(std::max(variance, 0.0));
  return result;
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
