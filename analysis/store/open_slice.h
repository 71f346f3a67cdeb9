// SQL for the duration of slices without an end. A plain function.
#pragma once

#include "analysis/model/event.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace sonde::store {

// SQL: the longest possible duration, in ns, of the slice with this id (an SQL expression). NULL if
// no end was lost: it was open when its process ended.
inline std::string atMostSql(std::string_view id) {
  return fmt::format(
      "(SELECT a.value FROM arg a JOIN string k ON k.id = a.key_id WHERE a.owner = 'slice' AND "
      "a.owner_id = {} AND k.text = '{}')",
      id,
      model::kAtMostKey);
}

// SQL: the duration of row `row` of table slice, or its longest possible duration. NULL: it was
// open when its process ended.
inline std::string drawnSql(std::string_view row) {
  return fmt::format("coalesce({0}.dur_ns, {1})", row, atMostSql(fmt::format("{}.id", row)));
}

}  // namespace sonde::store
