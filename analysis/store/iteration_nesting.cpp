#include "analysis/store/iteration_nesting.h"

#include "analysis/model/times.h"
#include "analysis/store/each_row.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace sonde::store {
namespace {

struct Iteration {
  std::int64_t id;
  bool isOpen;
  std::size_t height = 0;  // number of levels inside it
};

// The iterations of one thread by begin; of those with one begin, the longest first.
class ThreadNesting {
 public:
  void add(std::int64_t id, std::int64_t begin, std::optional<std::int64_t> length);
  void addTo(IterationHolders& holders);

 private:
  struct Holder {
    std::size_t at;  // of iterations_
    std::int64_t end;
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void tellHeights();
  void giveToOpen();

  std::vector<Iteration> iterations_;
  std::vector<std::size_t> holderOf_;  // of each of them; kNone: outermost
  std::vector<Holder> stack_;          // each ends no later than the one before
};

void ThreadNesting::add(std::int64_t id, std::int64_t begin, std::optional<std::int64_t> length) {
  const std::int64_t end = begin + length.value_or(0);
  // An iteration that began later and ends no earlier replaces those that it overlaps.
  while (!stack_.empty() && (stack_.back().end <= begin || stack_.back().end < end))
    stack_.pop_back();
  holderOf_.push_back(stack_.empty() ? kNone : stack_.back().at);
  if (length)
    stack_.push_back({iterations_.size(), end});
  iterations_.push_back({id, !length});
}

void ThreadNesting::tellHeights() {
  for (std::size_t at = iterations_.size(); at-- > 0;)
    if (holderOf_[at] != kNone) {
      std::size_t& height = iterations_[holderOf_[at]].height;
      height = std::max(height, iterations_[at].height + 1);
    }
}

void ThreadNesting::giveToOpen() {
  // The greatest height of the outermost iterations from each place on.
  std::vector<std::size_t> highestFrom(iterations_.size() + 1, 0);
  for (std::size_t at = iterations_.size(); at-- > 0;)
    highestFrom[at] = std::max(highestFrom[at + 1], iterations_[at].height);
  std::size_t highestBefore = 0;
  for (std::size_t at = 0; at < iterations_.size(); ++at) {
    highestBefore = std::max(highestBefore, iterations_[at].height);
    if (holderOf_[at] != kNone || !iterations_[at].isOpen || highestBefore <= highestFrom[at + 1])
      continue;
    for (std::size_t part = at + 1; part < iterations_.size(); ++part)
      if (holderOf_[part] == kNone)
        holderOf_[part] = at;
    return;
  }
}

void ThreadNesting::addTo(IterationHolders& holders) {
  tellHeights();
  giveToOpen();
  for (std::size_t at = 0; at < iterations_.size(); ++at)
    if (holderOf_[at] != kNone)
      holders.emplace(iterations_[at].id, iterations_[holderOf_[at]].id);
}

}  // namespace

Result<IterationHolders> readIterationHolders(const Database& trace) {
  std::map<std::pair<std::int64_t, std::int64_t>, ThreadNesting> threads;  // and processes
  SONDE_TRY(forEachRow(
      trace,
      "SELECT i.process_id, s.thread_id, i.id, i.start_ns, i.dur_ns FROM iteration i LEFT JOIN "
      "slice s ON s.id = i.slice_id ORDER BY i.start_ns, i.dur_ns DESC, i.id",
      [&](const Statement& row) -> Result<void> {
        if (model::isTime(row.integer(3)) && model::isTime(row.integer(4)))
          threads[{row.integer(0), row.integer(1)}].add(
              row.integer(2), row.integer(3), row.optionalInteger(4));
        return {};
      }));
  IterationHolders holders;
  for (auto& [thread, nesting] : threads)
    nesting.addTo(holders);
  return holders;
}

}  // namespace sonde::store
