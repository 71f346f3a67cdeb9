// What it costs to record each kind of event in a trace, as its tables `overhead` and
// `overhead_covariance` have it, and how well that is known. Plain values.
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

// How it was found what an event costs: values of MeasuredCost::method.
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
  std::optional<std::int64_t> processId;  // of it and those that it started; nullopt: of all
  EventCost cost;
  double errorNs = 0;  // standard error of the sum
  std::string method;
  double unrecordedNs = 0;  // of a call while the probe is off
};

// How much of the cost of an event lies before its begin is stamped, inside of it and after its
// end, where only the sum is known: a scope's begin is stamped last thing, its end first thing; a
// call is recorded when it is over; CUPTI does most of its work inside of the call.
EventCost usualSplit(std::string_view probe, std::string_view api, double sumNs) noexcept;

// What one calibration found.
struct CostSet {
  std::vector<MeasuredCost> rows;
  std::vector<std::string> probes;              // that it was of
  std::vector<std::vector<double>> covariance;  // of the relative errors of what they cost
};

class CostTable {
 public:
  // Of several rows for one class and process that of the best method counts: what the run itself
  // has shown, or runs like it, before what loops have shown, and this before what is assumed.
  static Result<CostTable> read(const store::Database& trace);
  // What was found elsewhere counts before what the trace has, for all its processes.
  void add(const CostSet& measured);
  // Where nothing of a probe is there while it is off, so that its calls cost nothing then.
  void assumeFreeWhileOff(const std::string& probe);

  // Index of costs(); nullopt: not known. A process's own go before those of the process that
  // started it, and these before those of all.
  std::optional<std::uint32_t> find(const CostClass& of, std::int64_t processId) const;

  bool empty() const noexcept { return rows_.empty(); }
  const std::vector<MeasuredCost>& rows() const noexcept { return rows_; }
  std::vector<EventCost> costs() const;

  // Of the relative errors of what two probes cost, as it was found by the measurement that holds
  // for `process` (kAll: for all); nullopt: it does not say.
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
