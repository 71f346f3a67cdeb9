#include "cli/shell/cost_file.h"

#include "analysis/store/each_row.h"
#include "cli/shell/json_file.h"
#include "cli/text/table.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

using engine::correction::CostSet;
using engine::correction::MeasuredCost;
using nlohmann::json;

constexpr int kSchema = 1;

json rowOf(const MeasuredCost& cost, std::int64_t n) {
  return {{"probe", cost.probe},
          {"api", cost.api},
          {"mean_ns", cost.cost.sumNs()},
          {"error_ns", cost.errorNs},
          {"n", n},
          {"method", cost.method},
          {"before_ns", cost.cost.beforeNs},
          {"inside_ns", cost.cost.insideNs},
          {"unrecorded_ns", cost.unrecordedNs}};
}

json precisionJson(const std::optional<recorder::CalibrationPrecision>& precision) {
  if (!precision)
    return nullptr;
  return {{"asked", precision->asked},
          {"reached", precision->reached},
          {"is_enough", precision->isEnough()}};
}

constexpr const char* kCostFile = "a cost file of sonde calibrate";

constexpr double kMostNs = 1e12;  // the largest cost of an event

bool isCost(const engine::correction::EventCost& cost) {
  constexpr double kRounding = -1e-6;
  return cost.sumNs() <= kMostNs && cost.beforeNs >= 0 && cost.insideNs >= 0 &&
         cost.afterNs >= kRounding * cost.sumNs();
}

bool isTime(double ns) {
  return ns >= 0 && ns <= kMostNs;
}

// The largest variance of relative errors: a cost known to a factor of a thousand is unknown.
constexpr double kMostVariance = 1e6;

// Whether the value is possible for two errors with these variances; allows for rounding.
bool isCovariance(double value, double one, double other) {
  constexpr double kRounding = 1e-6;
  return std::abs(value) <= std::sqrt(one * other) * (1 + kRounding);
}

Result<void> checkCovariance(const CostSet& set) {
  if (set.covariance.size() != set.probes.size())
    return Error{ErrorCode::Corrupt, "`covariance` lacks a row for one of `probes`"};
  for (std::size_t probe = 0; probe < set.probes.size(); ++probe) {
    const std::vector<double>& row = set.covariance[probe];
    if (row.size() != set.probes.size())
      return Error{ErrorCode::Corrupt, "`covariance` lacks a column for one of `probes`"};
    for (std::size_t other = 0; other < row.size(); ++other)
      if (!std::isfinite(row[other]) || row[other] != set.covariance[other][probe])
        return Error{ErrorCode::Corrupt, "`covariance` is not symmetric"};
    if (row[probe] < 0 || row[probe] > kMostVariance)
      return Error{ErrorCode::Corrupt,
                   fmt::format("`covariance` has {:g} on its diagonal: expected a squared relative "
                               "error from 0 to {:g}",
                               row[probe],
                               kMostVariance)};
  }
  for (std::size_t probe = 0; probe < set.probes.size(); ++probe)
    for (std::size_t other = 0; other < probe; ++other)
      if (const double value = set.covariance[probe][other];
          !isCovariance(value, set.covariance[probe][probe], set.covariance[other][other]))
        return Error{
            ErrorCode::Corrupt,
            fmt::format("`covariance` has {:g} for {} and {}, more than their variances allow",
                        value,
                        set.probes[probe],
                        set.probes[other])};
  return {};
}

// nlohmann throws if a key is missing or has another type.
Result<MeasuredCost> costOf(const json& row) {
  if (!row.is_object())
    return Error{
        ErrorCode::Corrupt,
        fmt::format("a row of `overhead` is {}: expected an object with probe, api, mean_ns, …",
                    row.dump())};
  MeasuredCost cost{row.at("probe"), row.at("api"), std::nullopt, {}, 0, row.at("method")};
  cost.cost.beforeNs = row.at("before_ns");
  cost.cost.insideNs = row.at("inside_ns");
  cost.cost.afterNs = row.at("mean_ns").get<double>() - cost.cost.beforeNs - cost.cost.insideNs;
  cost.errorNs = row.at("error_ns");
  cost.unrecordedNs = row.value("unrecorded_ns", 0.0);  // missing in older files
  if (!isCost(cost.cost) || !isTime(cost.errorNs) || !isTime(cost.unrecordedNs))
    return Error{
        ErrorCode::Corrupt,
        fmt::format(
            "the cost of {} {} is negative, or not a number of nanoseconds", cost.probe, cost.api)};
  // The method of all costs from sonde calibrate.
  if (cost.method != engine::correction::method::kSeparateRuns)
    return Error{ErrorCode::Corrupt,
                 fmt::format("the `method` of {} {} is '{}': expected '{}'",
                             cost.probe,
                             cost.api,
                             cost.method,
                             engine::correction::method::kSeparateRuns)};
  return cost;
}

// Throws like costOf().
Result<CostSet> setOf(const json& document) {
  CostSet set;
  try {
    if (const json& schema = document.at("schema"); schema != kSchema)
      return Error{ErrorCode::Corrupt,
                   fmt::format("its schema is {}: this program reads {}", schema.dump(), kSchema)};
    const json& rows = document.at("overhead");
    if (!rows.is_array())
      return Error{ErrorCode::Corrupt, "`overhead` is not a list of costs"};
    for (const json& row : rows) {
      SONDE_TRY_ASSIGN(MeasuredCost cost, costOf(row));
      set.rows.push_back(std::move(cost));
    }
    set.probes = document.at("probes").get<std::vector<std::string>>();
    set.covariance = document.at("covariance").get<std::vector<std::vector<double>>>();
  } catch (const json::exception& error) {
    return Error{ErrorCode::Corrupt, reasonOf(error)};
  }
  SONDE_TRY(checkCovariance(set));
  if (set.rows.empty())
    return Error{ErrorCode::InvalidArgument,
                 "its runs could not measure the cost of any probe: run sonde calibrate with more "
                 "rounds, or omit --overhead"};
  return set;
}

// Checks that all values in the trace equal the file's.
Result<void> checkSame(const store::Database& trace,
                       const char* sql,
                       const std::string& measured,
                       const char* what) {
  std::vector<std::string> others;
  bool isThere = false;
  SONDE_TRY(store::forEachRow(trace, sql, [&](const store::Statement& row) -> Result<void> {
    isThere = true;
    if (row.text(0) != measured)
      others.emplace_back(row.isNull(0) || row.text(0).empty() ? "an unknown value" : row.text(0));
    return {};
  }));
  if (isThere && others.empty())
    return {};
  return Error{ErrorCode::InvalidArgument,
               fmt::format("it was measured with {} {}, but the trace was recorded with {}: "
                           "measure again with sonde calibrate",
                           what,
                           measured,
                           isThere ? others.front() : "an unknown value")};
}

Result<void> checkMachine(const json& document, const store::Database& trace) {
  try {
    SONDE_TRY(checkSame(trace,
                        "SELECT value FROM meta WHERE key = 'sources'",
                        document.at("sources"),
                        "the probes"));
    SONDE_TRY(checkSame(
        trace, "SELECT value FROM meta WHERE key = 'build'", document.at("build"), "the build"));
    // Includes all machines with recorded processes.
    return checkSame(
        trace,
        "SELECT DISTINCT cpu_model FROM host WHERE id IN (SELECT host_id FROM process)",
        document.at("cpu_model"),
        "the processor");
  } catch (const json::exception& error) {
    return Error{ErrorCode::Corrupt, reasonOf(error)};
  }
}

}  // namespace

std::string costFileOf(const recorder::CalibrationOutcome& outcome) {
  const auto& costs = outcome.costs;
  json document = {{"schema", kSchema},
                   {"sources", outcome.machine.sources},
                   {"build", outcome.machine.build},
                   {"cpu_model", outcome.machine.cpuModel},
                   {"runs", outcome.runs},
                   {"iterations", costs.iterations},
                   {"iteration_ns", costs.iterationNs},
                   {"overhead_ns", costs.overheadNs},
                   {"overhead_error_ns", costs.overheadErrorNs},
                   {"overhead_noise_ns", costs.noiseNs},
                   {"precision", precisionJson(outcome.precision)},
                   {"shares", json::array()},
                   {"overhead", json::array()},
                   {"probes", costs.costs.probes},
                   {"covariance", costs.costs.covariance}};
  for (const auto& share : costs.shares)
    document["shares"].push_back({{"probe", share.probe},
                                  {"ns", share.ns},
                                  {"error_ns", share.errorNs},
                                  {"found", share.found}});
  for (const MeasuredCost& cost : costs.costs.rows)
    document["overhead"].push_back(rowOf(cost, costs.iterations));
  return dumpJson(document);
}

Result<CostSet> readCostFile(const std::string& path, const store::Database& trace) {
  const auto named = [&](const Error& error) { return errorOfFile(path, kCostFile, error); };
  SONDE_TRY_ASSIGN(const json document, readJsonFile(path, kCostFile));
  if (const auto same = checkMachine(document, trace); !same)
    return named(same.error());
  auto set = setOf(document);
  if (!set)
    return named(set.error());
  return set;
}

}  // namespace sonde::cli
