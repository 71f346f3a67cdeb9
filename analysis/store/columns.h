// The columns that a struct of model/row.h is stored in. Plain functions; any thread.
#pragma once

#include "analysis/store/statement.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace sonde::store {

// By SONDE_COLUMNS' text of the members: "id, startNs, grid.x" are id, start_ns and grid_x.
std::vector<std::string> columnNames(std::string_view members);
// The same as a list for SQL, each in quotes.
std::string columnsOf(std::string_view members);

// Where a query's result has the column of each member; an error names one that it lacks.
Result<std::vector<int>> placesOf(const Statement& rows, std::string_view members);

}  // namespace sonde::store
