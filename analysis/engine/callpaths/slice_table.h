// The slices of some threads in a range of time, each with the slice around it: what call paths are
// made of. Reads the table in its order, or, of a range of a finished trace, only that part of each
// line. Reading uses the database's thread; then plain values. Within engine/callpaths.
#pragma once

#include "analysis/engine/align/job_clock.h"
#include "analysis/engine/callpaths/path_filter.h"
#include "analysis/model/words.h"
#include "analysis/store/database.h"
#include "analysis/store/last_text.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace sonde::engine::callpaths {

// A thread that the filter selects.
struct PathThread {
  std::int64_t id = 0;
  std::string name;     // "main 4711"
  std::string process;  // "rank 0", "python3 4711"
  std::int64_t processId = 0;
  align::HostClock clock;
  std::optional<std::int64_t> endNs;  // of its process, by its host's clock
};

// By id of the thread. Ignores the range and the operation of the filter.
Result<std::vector<PathThread>> readThreads(const store::Database& trace, const PathFilter& filter);

struct PathSlice {
  std::uint32_t id = 0;
  std::uint32_t parent = 0;       // id of the slice around it; 0: none
  std::uint32_t name = 0;         // row of `string`
  std::uint32_t thread : 24 = 0;  // index in SliceTable::threads()
  model::SliceKind kind : 8 = model::SliceKind::Operation;
  std::int64_t beginNs = 0;  // job time
  std::int64_t endNs = 0;
};
static_assert(sizeof(PathSlice) == 32);  // a trace has millions

class SliceTable {
 public:
  // Without `range`, all slices of the filter's threads; else those that share an instant with it.
  // Ranges, which need not nest, and marks are left out. A slice that did not end lasts as long as
  // its process. Corrupt: an id that no trace has.
  static Result<SliceTable> read(const store::Database& trace,
                                 const PathFilter& filter,
                                 const std::optional<metrics::Interval>& range);

  static constexpr std::size_t kNone = ~std::size_t{0};
  [[nodiscard]] const std::vector<PathThread>& threads() const noexcept { return threads_; }
  [[nodiscard]] const std::vector<PathSlice>& slices() const noexcept { return slices_; }
  // The place of a slice in slices(); kNone: it is not there.
  [[nodiscard]] std::size_t placeOf(std::int64_t id) const;
  // Whether a slice is in the filter's operation: that or a slice around it has the name, or the
  // scope that its thread had inherited. All are, without an operation.
  [[nodiscard]] bool isInside(std::size_t place) const { return all_ || inside_[place]; }
  // Calls `visit(place, place of the parent)` for each slice, parents first.
  template <typename Visit>
  void forEachParentFirst(Visit visit) const;

 private:
  [[nodiscard]] std::string columnsSql() const;
  Result<void> readAll(const store::Database& trace);
  Result<void> readRange(const store::Database& trace, const metrics::Interval& range);
  Result<void> readLines(store::Statement& lines,
                         store::Statement& rows,
                         const PathThread& thread,
                         const metrics::Interval& range);
  Result<void> addRow(const store::Statement& row, const std::optional<metrics::Interval>& range);
  Result<void> findInside(const store::Database& trace, const std::string& operation);
  void indexIds();
  template <typename Around, typename Visit>
  void forEachAroundFirst(Around around, Visit visit) const;

  bool all_ = true;
  std::vector<PathThread> threads_;
  std::unordered_map<std::int64_t, std::uint32_t> threadPlaces_;
  std::pair<std::int64_t, std::uint32_t> lastThread_;
  store::LastText<std::optional<model::SliceKind>> kinds_;
  std::vector<PathSlice> slices_;
  std::unordered_map<std::uint32_t, std::uint32_t> inherited_;  // scope by slice without a parent
  std::vector<bool> inside_;
  // By id from firstId_ on; empty: slices_ is searched.
  std::vector<std::uint32_t> places_;
  std::uint32_t firstId_ = 0;
};

// Each once, even if the rows of a damaged file go round in a circle.
template <typename Around, typename Visit>
void SliceTable::forEachAroundFirst(Around around, Visit visit) const {
  std::vector<bool> isSeen(slices_.size());
  std::vector<std::size_t> waiting;
  for (std::size_t each = 0; each < slices_.size(); ++each) {
    for (std::size_t at = each; at != kNone && !isSeen[at]; at = around(at)) {
      isSeen[at] = true;
      waiting.push_back(at);
    }
    for (; !waiting.empty(); waiting.pop_back())
      visit(waiting.back(), around(waiting.back()));
  }
}

template <typename Visit>
void SliceTable::forEachParentFirst(Visit visit) const {
  forEachAroundFirst([this](std::size_t place) { return placeOf(slices_[place].parent); }, visit);
}

}  // namespace sonde::engine::callpaths
