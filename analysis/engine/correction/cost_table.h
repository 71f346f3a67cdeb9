// The cost of recording each kind of event of a trace, and its error: the tables `overhead` and
// `overhead_covariance`. Plain values.
#pragma once

#include "analysis/engine/correction/cost_class.h"
#include "analysis/engine/correction/program.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sonde::engine::correction {

// How a cost was found: values of MeasuredCost::method.
namespace method {
inline constexpr std::string_view kInRun = "in-run";
inline constexpr std::string_view kSeparateRuns = "separate runs";
inline constexpr std::string_view kMicroLoop = "micro-loop";
inline constexpr std::string_view kAssumed = "assumed";
}  // namespace method

// A row of `overhead`.
struct MeasuredCost {
  std::string probe;
  std::string api;
  std::optional<std::int64_t> processId;  // for it and the processes it started; nullopt: for all
  EventCost cost;
  double errorNs = 0;  // standard error of the sum
  std::string method;
  double unrecordedNs = 0;  // of a call while the probe is off
};

// Splits a cost of which only the sum is known: the parts before the begin stamp, inside the event,
// and after its end. A scope's begin is stamped at the end of Sonde's work, and its end at the
// start of it, so nearly all of the cost is outside the scope. A call is recorded when it is over.
// CUPTI does most of its work inside the call.
EventCost usualSplit(std::string_view probe, std::string_view api, double sumNs) noexcept;

// The result of one calibration.
struct CostSet {
  std::vector<MeasuredCost> rows;
  std::vector<std::string> probes;              // whose costs it measured
  std::vector<std::vector<double>> covariance;  // of the relative errors of the probes' costs
};

class CostTable {
 public:
  // If several rows are for one class and process, the best method counts: first this run or runs
  // like it, then loops, then assumptions.
  static Result<CostTable> read(const store::Database& trace);
  // These costs take precedence over the trace's, for all its processes.
  void add(const CostSet& measured);
  // For runs in which a probe that is off does not exist, so that its calls are free.
  void assumeFreeWhileOff(const std::string& probe);

  // Index of costs(); nullopt: unknown. Looks first at the process's own costs, then at those of
  // its parent and of that one's parents, and last at those for all. For `cuda launch`, which older
  // traces lack, returns the cost of `cuda call`.
  std::optional<std::uint32_t> find(const CostClass& of, std::int64_t processId) const;

  bool empty() const noexcept { return rows_.empty(); }
  const std::vector<MeasuredCost>& rows() const noexcept { return rows_; }
  std::vector<EventCost> costs() const;

  // Covariance of the relative errors of two probes' costs, from the measurement that holds for
  // `process` (kAll: for all). nullopt: unknown.
  static constexpr std::int64_t kAll = -1;
  std::optional<double> covariance(std::int64_t process,
                                   const std::string& probe,
                                   const std::string& other) const;

 private:
  using Place = std::pair<std::string, std::string>;  // probe and api, or two probes

  void add(MeasuredCost row);
  Result<void> readProcesses(const store::Database& trace);
  Result<void> readRows(const store::Database& trace);
  Result<void> readCovariance(const store::Database& trace);

  std::vector<MeasuredCost> rows_;
  std::map<std::pair<std::int64_t, Place>, std::uint32_t> places_;  // by process, or kAll
  std::map<std::pair<std::int64_t, Place>, double> covariance_;     // likewise
  std::unordered_map<std::int64_t, std::int64_t> parents_;          // of processes
};

}  // namespace sonde::engine::correction
