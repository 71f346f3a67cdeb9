// Where the time of a trace is put down while it is read: by process and iteration. One thread.
// Within engine/diff.
#pragma once

#include "analysis/base/result.h"
#include "analysis/engine/diff/rank_times.h"
#include "analysis/store/database.h"

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

class Ledger {
 public:
  // Has the iterations of all processes that have any, with their own times.
  static Result<Ledger> open(const store::Database& trace);

  // Nothing of a process or an iteration that does not count.
  std::optional<Place> byNumber(std::int64_t processId, std::int64_t number) const;
  std::optional<Place> byTime(std::int64_t processId, std::int64_t ns) const;

  void add(Place place, const Subject& subject, double ns);

  std::vector<RankTimes> take() { return std::move(ranks_); }
  bool empty() const noexcept { return ranks_.empty(); }

 private:
  struct Window {
    std::int64_t begin;
    std::int64_t end;
    std::size_t iteration;
  };
  struct Row {
    std::int64_t number;
    std::int64_t begin;
    std::int64_t ns;
    std::int64_t probes;
  };
  void addProcess(std::int64_t id, std::optional<std::int64_t> rank, std::vector<Row> rows);

  std::vector<RankTimes> ranks_;
  std::vector<std::vector<Window>> windows_;                      // of each, by begin
  std::unordered_map<std::int64_t, std::size_t> placeOfProcess_;  // by its id
};

}  // namespace sonde::engine::diff
