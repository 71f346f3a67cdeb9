// What it costs to record each kind of event in a trace, as its tables `overhead` and
// `overhead_covariance` have it, and how well that is known. Plain values.
#pragma once

#include "analysis/base/result.h"
#include "analysis/engine/correction/cost_class.h"
#include "analysis/engine/correction/program.h"
#include "analysis/store/database.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sonde::engine::correction {

// A row of `overhead`.
struct MeasuredCost {
  std::string probe;
  std::string api;
  std::optional<std::int64_t> processId;  // nullopt: all
  EventCost cost;
  double errorNs = 0;  // standard error of the sum
  std::string method;
  double unrecordedNs = 0;  // of a call while the probe is off
};

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
  // What was found elsewhere counts before what the trace has.
  void add(const CostSet& measured);

  // Index of costs(); nullopt: not known. A process's own go before those of all.
  std::optional<std::uint16_t> find(const CostClass& of, std::int64_t processId) const;

  bool empty() const noexcept { return rows_.empty(); }
  const std::vector<MeasuredCost>& rows() const noexcept { return rows_; }
  std::vector<EventCost> costs() const;

  // The errors as independent causes: each a relative change of every cost, by index, that is one
  // standard error of that cause. Their squares add up. `events`: by index, how many there are:
  // what does next to nothing to their sum is taken together, as if it all came at once, so that
  // there are kMostModes at most.
  static constexpr std::size_t kMostModes = 3;
  std::vector<std::vector<double>> errorModes(const std::vector<std::int64_t>& events) const;
  // costs() when `mode` has happened.
  std::vector<EventCost> costsWith(const std::vector<double>& mode) const;

 private:
  using Place = std::pair<std::string, std::string>;  // probe and api

  Result<void> add(MeasuredCost row);
  Result<void> readRows(const store::Database& trace);
  Result<void> readCovariance(const store::Database& trace);

  std::vector<MeasuredCost> rows_;
  std::map<std::pair<std::int64_t, Place>, std::uint16_t> places_;    // by process, or 0
  std::map<std::pair<std::string, std::string>, double> covariance_;  // of relative errors
};

}  // namespace sonde::engine::correction
