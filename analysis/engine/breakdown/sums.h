// One pass over the events of a trace: how long each set of activities lasted, by ids of names. Any
// thread. Within engine/breakdown.
#pragma once

#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/engine/breakdown/category.h"
#include "analysis/engine/breakdown/labels.h"
#include "analysis/engine/breakdown/process_events.h"

#include <compare>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace sonde::engine::breakdown {

using CategoryMask = std::uint16_t;
using Ids = std::vector<std::uint32_t>;

constexpr CategoryMask bit(Category category) noexcept {
  return static_cast<CategoryMask>(1U << static_cast<unsigned>(category));
}

Resource resourceOf(CategoryMask categories) noexcept;

// More names than these at once become one, `kMany`: nobody reads longer lists. Without the limit,
// n operations that begin one after the other and all go on would make n rows with n² / 2 names.
constexpr std::size_t kMostNames = 100;
constexpr std::uint32_t kMany = ~std::uint32_t{0};

// A group by ids of names, with its categories.
struct Key {
  std::int64_t process = 0;
  std::int64_t thread = 0;
  Ids phases;
  Ids operations;
  Ids modules;
  std::int64_t iteration = Activity::kNoIteration;
  CategoryMask categories = 0;

  auto operator<=>(const Key&) const = default;
};

struct Sums {
  std::map<Key, std::int64_t> ns;
  std::map<std::pair<Key, Category>, std::int64_t> entered;
  std::vector<ProcessTotal> processes;         // by id
  std::map<std::int64_t, ThreadName> threads;  // by id
  std::int64_t wallNs = 0;
  std::int64_t maskedNs = 0;
  std::int64_t negative = 0;
};

// `times`: corrected times; nullptr: as recorded. `isLast`: consumes `events`. Corrupt: the sum of
// the times overflows.
Result<Sums> sumUp(TraceEvents& events,
                   const Options& options,
                   const correction::CorrectedTimes* times,
                   bool isLast);

}  // namespace sonde::engine::breakdown
