// Collects the time of a trace while it is read, by process and iteration. One thread. Within
// engine/diff.
#pragma once

#include "analysis/engine/diff/iteration_times.h"
#include "analysis/engine/metrics/clock.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace sonde::engine::diff {

// One iteration of one process.
struct Place {
  std::size_t process = 0;
  std::size_t iteration = 0;

  auto operator<=>(const Place&) const = default;
};

// A time, with the three values that IterationTimes stores.
struct Amount {
  double ns = 0;
  double rawNs = 0;
  double errorNs = 0;
};

// `byClock`: the same time by each of metrics::Clocks::all().
Amount amountOf(const std::vector<std::int64_t>& byClock);

class Ledger {
 public:
  // Starts with the iterations that count, of all processes that have any, and their times by
  // `clocks`.
  static Result<Ledger> open(const store::Database& trace,
                             const std::vector<metrics::Clock>& clocks);

  // Unset if the process or the iteration does not count.
  std::optional<Place> byRow(std::int64_t processId, std::int64_t iterationId) const;
  std::optional<Place> byTime(std::int64_t processId, std::int64_t ns) const;

  void add(Place place, const Subject& subject, const Amount& amount);

  std::vector<IterationTimes> take() { return std::move(ranks_); }
  bool empty() const noexcept { return ranks_.empty(); }

 private:
  struct Window {
    std::int64_t begin;
    std::int64_t end;
    std::size_t iteration;
  };
  void addProcess(const metrics::RankProcess& rank, const std::vector<metrics::Clock>& clocks);

  std::vector<IterationTimes> ranks_;
  std::vector<std::vector<Window>> windows_;                      // by process, ordered by begin
  std::unordered_map<std::int64_t, Place> placeOfRow_;            // by the iteration's id
  std::unordered_map<std::int64_t, std::size_t> placeOfProcess_;  // by its id
};

}  // namespace sonde::engine::diff
