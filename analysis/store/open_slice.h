// What is known of a slice that has no duration. For SQL over a trace; a plain function.
#pragma once

#include "analysis/model/event.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace sonde::store {

// SQL: how long the slice of this id (an SQL expression) lasted at most, in ns; NULL where no end
// was lost: it was open when its process ended.
inline std::string atMostSql(std::string_view id) {
  return fmt::format(
      "(SELECT a.value FROM arg a JOIN string k ON k.id = a.key_id WHERE a.owner = 'slice' AND "
      "a.owner_id = {} AND k.text = '{}')",
      id,
      model::kAtMostKey);
}

// SQL: the duration of row `row` of table slice, or how long it lasted at most; NULL: it was open
// when its process ended.
inline std::string drawnSql(std::string_view row) {
  return fmt::format("coalesce({0}.dur_ns, {1})", row, atMostSql(fmt::format("{}.id", row)));
}

}  // namespace sonde::store
