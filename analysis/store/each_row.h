// Iterates over the rows of a query.
#pragma once

#include "analysis/store/database.h"
#include "analysis/store/statement.h"
#include "base/result.h"

#include <string_view>

namespace sonde::store {

// Calls `each`, which returns a Result<void>, with the statement at each row of `sql`; stops at its
// first error.
template <typename Each>
Result<void> forEachRow(const Database& trace, std::string_view sql, Each each) {
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(sql));
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return {};
    SONDE_TRY(each(rows));
  }
}

}  // namespace sonde::store
