#include "analysis/engine/calibration/assumed_costs.h"

#include "analysis/engine/calibration/in_run.h"
#include "analysis/store/statement.h"

#include <string_view>

namespace sonde::engine::calibration {
namespace {

using correction::EventCost;
using correction::MeasuredCost;

struct Assumed {
  std::string_view probe;
  std::string_view api;
  EventCost cost;
  double unrecordedNs = 0;  // part of it: the cost of a call while the probe is off
};

// A scope is two records. The costs of torch's hooks lie between what bench/torch_hooks.py measures
// for calls in a tight loop and what the hooks add to a step of a small network.
constexpr Assumed kAssumed[] = {
    {"annotation", "scope", {25, 2, 25}},
    {"annotation", "scope in Python", {110, 10, 100}},
    {"annotation", "mark", {0, 0, 30}},
    {"annotation", "scalar", {0, 0, 40}},
    {"nvtx", "scope", {40, 2, 30}},
    {"nvtx", "mark", {0, 0, 50}},
    {"torch", "iteration", {500, 300, 500}},
    {"torch", "scope", {700, 400, 700}},
    {"torch", "module", {150, 50, 150}},
    {"torch", "operator", {350, 50, 300}},
    {"torch", "mark", {0, 0, 500}},
    {"gloo", "collective", {100, 100, 800}},
    {"gloo", "call", {100, 100, 300}},
    {"net", "transfer", {30, 20, 200}},
    {"net", "wait", {30, 20, 200}},
    {"mpi", "call", {60, 40, 100}, 120},  // requests and numbers are also kept while it is off
    {"mpi", "collective", {20, 40, 70}, 30},
    {"mpi", "wait", {60, 40, 100}, 120},
    {"nccl", "call", {100, 50, 150}},
    {"nccl", "collective", {100, 100, 250}},
    // Work inside CUPTI, which is never off.
    {"cuda", "launch", {100, 1'500, 200}, 1'600},
    {"cuda", "call", {50, 400, 50}, 450},
    {"io", "call", {100, 50, 200}, 15},
    {"io", "open", {100, 50, 1'150}, 300},  // its path is looked up
    {"sync", "wait", {30, 20, 100}},
    {"python", "call", {20, 15, 26}},
    {"stack", "sample", {0, 0, 20'000}},
    {"tensor", "tensor", {0, 0, 25'000}},
    {"memory", "allocation", {0, 0, 80}},
    {"plugin", "call", {20, 10, 30}},
    {"plugin", "scope", {25, 5, 25}},
    {"plugin", "mark", {0, 0, 25}},
};

Result<void> note(store::Database& trace, std::string_view severity, const std::string& text) {
  SONDE_TRY_ASSIGN(store::Statement row,
                   trace.prepare("INSERT INTO note(severity, source, text) "
                                 "VALUES(?1, 'calibration', ?2)"));
  return row.bindAll(severity, std::string_view(text)).run();
}

}  // namespace

std::vector<MeasuredCost> assumedCosts() {
  std::vector<MeasuredCost> costs;
  for (const Assumed& each : kAssumed)
    costs.push_back({std::string(each.probe),
                     std::string(each.api),
                     std::nullopt,
                     each.cost,
                     each.cost.sumNs(),
                     std::string(correction::method::kAssumed),
                     each.unrecordedNs});
  return costs;
}

Result<void> completeOverhead(store::Database& trace) {
  SONDE_TRY(
      trace.exec("DELETE FROM overhead WHERE method IN ('assumed', 'in-run'); "
                 "DELETE FROM overhead_covariance; "
                 "DELETE FROM note WHERE source = 'calibration'; "
                 "DELETE FROM meta WHERE key = 'calibrated'"));
  CalibratedCosts assumed;
  assumed.costs.rows = assumedCosts();
  SONDE_TRY(storeCosts(trace, assumed));
  const auto found = calibrateInRun(trace);
  if (!found && found.error().code != ErrorCode::NotFound)
    return found.error();
  if (!found)
    SONDE_TRY(note(trace, "warning", "the run did not calibrate itself: " + found.error().message));
  if (!found || !*found)
    return {};
  SONDE_TRY(storeCosts(trace, **found));
  SONDE_TRY_ASSIGN(store::Statement row,
                   trace.prepare("INSERT INTO meta VALUES('calibrated', ?1)"));
  const std::string text = textOf(**found);
  return row.bindAll(std::string_view(text)).run();
}

}  // namespace sonde::engine::calibration
