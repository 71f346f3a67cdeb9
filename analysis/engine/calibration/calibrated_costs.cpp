#include "analysis/engine/calibration/calibrated_costs.h"

#include "analysis/engine/calibration/known_factors.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace sonde::engine::calibration {
namespace {

using correction::MeasuredCost;

constexpr double kPriorReach = 5;
constexpr double kLeastFound = 0.02;
// The best possible error of what a call costs while its probe is off: no run shows that.
constexpr double kUnrecordedError = 0.5;
// The error from the difference between a probe that is off and no probe, as a share of the cost of
// recording. Assumed: the root mean square is 17 % over the cases of docs/accuracy.md, without
// those whose threads wake each other. Part of that comes from the machine.
constexpr double kModelError = 0.15;

std::size_t placeOf(const std::vector<std::string>& probes, const std::string& probe) {
  return static_cast<std::size_t>(std::find(probes.begin(), probes.end(), probe) - probes.begin());
}

// Leaves out rows that a later row for the same class and process replaces.
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

// Sums over the costs of one probe.
struct Sums {
  double knownNs = 0;  // without the part that remains while it is off
  double foundNs = 0;
  double unrecordedNs = 0;
  double unrecordedErrorNs = 0;
  double knownErrorNs = 0;
  // The part that a run can show: without what remains while the probe is off.
  double knownPartErrorNs = 0;
  double learntPartErrorNs = 0;
  bool isFound = true;  // better than it was known before

  double knownError() const noexcept {
    const double sum = knownNs + unrecordedNs;
    return sum > 0 ? knownErrorNs / sum : 1;
  }
  double unrecordedError() const noexcept {
    return unrecordedNs > 0 ? unrecordedErrorNs / unrecordedNs : kUnrecordedError;
  }
};

// The error of what a call costs while its probe is off.
double unrecordedErrorNs(const MeasuredCost& row) noexcept {
  return unrecordedShare(row) * std::max(row.errorNs, kUnrecordedError * row.cost.sumNs());
}

// A call that is not recorded still goes through the probe; no difference between runs shows that
// part.
MeasuredCost times(MeasuredCost row, double factor, double error, std::string_view method) {
  const double unrecorded = unrecordedShare(row);
  const double scale = unrecorded + std::max(factor, 0.0) * (1 - unrecorded);
  row.errorNs = std::hypot(row.cost.sumNs() * (1 - unrecorded) * error,
                           unrecordedErrorNs(row),
                           row.cost.sumNs() * scale * kModelError);
  row.cost = {row.cost.beforeNs * scale, row.cost.insideNs * scale, row.cost.afterNs * scale};
  row.method = method;
  return row;
}

struct Multiplied {
  std::vector<MeasuredCost> rows;
  std::vector<Sums> sums;  // by probe
};

Multiplied multiplied(const std::vector<MeasuredCost>& known,
                      const std::vector<std::string>& probes,
                      const Factors& factors,
                      std::string_view method) {
  Multiplied costs{{}, std::vector<Sums>(probes.size())};
  for (const MeasuredCost& row : known) {
    const std::size_t place = placeOf(probes, row.probe);
    if (place == probes.size())
      continue;
    const double error = std::sqrt(std::max(factors.covariance[place][place], 0.0));
    MeasuredCost found = times(row, factors.values[place], error, method);
    Sums& of = costs.sums[place];
    const double unrecorded = unrecordedShare(row);
    of.knownNs += row.cost.sumNs() * (1 - unrecorded);
    of.foundNs += found.cost.sumNs();
    of.unrecordedNs += row.cost.sumNs() * unrecorded;
    of.unrecordedErrorNs += unrecordedErrorNs(row);
    of.knownErrorNs += row.errorNs;
    of.knownPartErrorNs += row.errorNs * (1 - unrecorded);
    of.learntPartErrorNs += row.cost.sumNs() * (1 - unrecorded) * error;
    costs.rows.push_back(std::move(found));
  }
  return costs;
}

// Among the probes whose costs are known no better than before: the one about which least was
// learnt. nullopt: only `kept` ones are left.
std::optional<std::size_t> leastFound(const std::vector<Sums>& sums,
                                      const std::vector<std::optional<double>>& kept) {
  std::optional<std::size_t> least;
  double most = 1;
  for (std::size_t at = 0; at < sums.size(); ++at) {
    const double ratio = sums[at].knownPartErrorNs > 0
                             ? sums[at].learntPartErrorNs / sums[at].knownPartErrorNs
                             : std::numeric_limits<double>::infinity();
    if (!kept[at] && ratio >= most) {
      least = at;
      most = ratio;
    }
  }
  return least;
}

// CUPTI works on while the probe is off, so blocks show almost nothing of its cost. Runs that never
// start it show all of it.
bool isHidden(const ProbeCost& probe) noexcept {
  return probe.probe == "cuda" && probe.unrecordedNs > 0;
}

// The probe keeps the cost known before, so its error does not include what was learnt. Factors of
// the others are conditioned on that.
void leaveAsKnown(std::size_t place, Factors& factors) {
  factors.values[place] = 1;
  for (std::size_t other = 0; other < factors.values.size(); ++other)
    factors.covariance[place][other] = factors.covariance[other][place] = 0;
}

// Errors of factors are relative to what was known before. The table's errors are relative to what
// was found, which may be close to zero.
void addCovariance(const std::vector<std::string>& probes,
                   const std::vector<Sums>& sums,
                   const Factors& factors,
                   correction::CostSet& into) {
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at < probes.size(); ++at)
    if (sums[at].isFound && sums[at].knownNs > 0)
      found.push_back(at);
  const auto scale = [&](std::size_t at) {
    return sums[at].knownNs / std::max(sums[at].foundNs, kLeastFound * sums[at].knownNs);
  };
  for (const std::size_t at : found) {
    into.probes.push_back(probes[at]);
    into.covariance.emplace_back();
    for (const std::size_t other : found)
      into.covariance.back().push_back(factors.covariance[at][other] * scale(at) * scale(other));
    const double unrecorded = sums[at].unrecordedErrorNs / std::max(sums[at].foundNs, 1.0);
    into.covariance.back()[into.covariance.size() - 1] +=
        unrecorded * unrecorded + kModelError * kModelError;
  }
}

// The share of recording in an iteration, in total and by probe.
void addOverhead(const std::vector<ProbeCost>& probes,
                 const std::vector<Sums>& sums,
                 const Factors& factors,
                 CalibratedCosts& into) {
  double noise = 0;    // variances
  double unknown = 0;  // of the part that no iteration shows
  for (std::size_t at = 0; at < probes.size(); ++at) {
    const ProbeCost& each = probes[at];
    if (!sums[at].isFound) {
      const double ns = each.recordedNs + each.unrecordedNs;
      into.overheadNs += ns;
      into.shares.push_back({each.probe, ns, ns * sums[at].knownError(), false});
      unknown += std::pow(ns * sums[at].knownError(), 2);
      for (std::size_t other = 0; other < probes.size(); ++other)
        if (sums[other].isFound)
          unknown += 2 * each.recordedNs * probes[other].recordedNs * factors.covariance[at][other];
      continue;
    }
    const double ns = factors.values[at] * each.recordedNs + each.unrecordedNs;
    const double own = std::max(factors.covariance[at][at], 0.0);
    const double ofModel =
        std::hypot(sums[at].unrecordedError() * each.unrecordedNs, kModelError * ns);
    into.overheadNs += ns;
    into.shares.push_back({each.probe, ns, std::hypot(each.recordedNs * std::sqrt(own), ofModel)});
    unknown += ofModel * ofModel;
    for (std::size_t other = 0; other < probes.size(); ++other)
      if (sums[other].isFound)
        noise += each.recordedNs * probes[other].recordedNs * factors.covariance[at][other];
  }
  noise = std::max(noise, 0.0);
  into.noiseNs = std::sqrt(noise);
  into.overheadErrorNs = std::sqrt(std::max(noise + unknown, 0.0));
}

Result<void> storeCovariance(store::Database& trace, const correction::CostSet& costs) {
  SONDE_TRY_ASSIGN(store::Statement pair,
                   trace.prepare("INSERT INTO overhead_covariance(probe, other_probe, covariance) "
                                 "VALUES(?1, ?2, ?3)"));
  const std::size_t size = costs.probes.size();
  for (std::size_t cell = 0; cell < size * size; ++cell) {
    const std::size_t at = cell / size;
    const std::size_t other = cell % size;
    pair.bindAll(std::string_view(costs.probes[at]),
                 std::string_view(costs.probes[other]),
                 costs.covariance[at][other]);
    SONDE_TRY(pair.run());
  }
  return {};
}

}  // namespace

double unrecordedShare(const MeasuredCost& row) noexcept {
  constexpr double kMost = 0.95;
  const double sum = row.cost.sumNs();
  return sum > 0 ? std::clamp(row.unrecordedNs / sum, 0.0, kMost) : 0;
}

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
                             const std::vector<ProbeCost>& probes,
                             const Factors& factors,
                             std::string_view method) {
  std::vector<std::string> names;
  names.reserve(probes.size());
  for (const ProbeCost& each : probes)
    names.push_back(each.probe);
  const std::vector<MeasuredCost> rows = lastRows(known);
  // errors of costs that stay as they were known
  std::vector<std::optional<double>> kept(probes.size());
  Factors learnt = factors;
  Multiplied costs = multiplied(rows, names, learnt, method);
  for (auto least = leastFound(costs.sums, kept); least; least = leastFound(costs.sums, kept)) {
    kept[*least] = costs.sums[*least].knownError();
    learnt = given(factors, kept);
    costs = multiplied(rows, names, learnt, method);
  }
  for (std::size_t at = 0; at < names.size(); ++at) {
    const bool isLeft = !kept[at] && isHidden(probes[at]);
    if (isLeft)
      leaveAsKnown(at, learnt);
    costs.sums[at].isFound = !kept[at] && !isLeft;
  }
  std::erase_if(costs.rows, [&](const MeasuredCost& row) {
    return !costs.sums[placeOf(names, row.probe)].isFound;
  });
  CalibratedCosts result;
  result.blocks = static_cast<std::int64_t>(factors.blocks);
  result.costs.rows = std::move(costs.rows);
  addCovariance(names, costs.sums, learnt, result.costs);
  addOverhead(probes, costs.sums, learnt, result);
  return result;
}

std::string textOf(const CalibratedCosts& costs) {
  std::string probes;
  for (const CalibratedCosts::Share& share : costs.shares)
    probes += fmt::format(R"({}{{"probe": "{}", "ns": {:.1f}, "error_ns": {:.1f}, "found": {}}})",
                          probes.empty() ? "" : ", ",
                          share.probe,
                          share.ns,
                          share.errorNs,
                          share.found);
  return fmt::format(
      R"({{"iteration_ns": {:.1f}, "overhead_ns": {:.1f}, "error_ns": {:.1f}, "noise_ns": {:.1f}, )"
      R"("iterations": {}, "blocks": {}, "probes": [{}]}})",
      costs.iterationNs,
      costs.overheadNs,
      costs.overheadErrorNs,
      costs.noiseNs,
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
  return storeCovariance(trace, costs.costs);
}

}  // namespace sonde::engine::calibration
