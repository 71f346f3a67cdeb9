// How every table of a trace is carried over into another one: which columns are ids to be moved,
// which refer to rows of other tables, which are times to be shifted. Made from the schema's own
// foreign keys, so a table that is new there is copied without a change here; what a schema cannot
// tell is declared in copy_plan.cpp, and a test compares those declarations with the schema. Plain
// values; any thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::merge {

enum class Role {
  Plain,        // copied as it is
  Id,           // the row's own key
  Reference,    // of a row of `target`
  Polymorphic,  // of a row of the table that the column `target` names
  Time,         // a job time of the recording host
};

struct ColumnPlan {
  std::string name;
  Role role = Role::Plain;
  std::string target;
};

struct TablePlan {
  std::string name;
  std::vector<ColumnPlan> columns;
  bool hasId = false;
};

using CopyPlan = std::vector<TablePlan>;

// Of all tables of the database `schema` ("main", or an attached one) but those that a merge makes
// itself.
Result<CopyPlan> planCopies(const store::Database& trace);

// Tables that are not copied row by row: string, host, device and meta are joined, the others are
// made anew.
bool isCopied(std::string_view table);
// Rows of these tables are looked up in temp.map_<table>(old_id, new_id); ids of the others move by
// a constant.
bool isMapped(std::string_view table);

// Where the ids of a source begin in the target: by table.
using Offsets = std::map<std::string, std::int64_t>;

// INSERT INTO main.<table> … SELECT … FROM source.<table>.
std::string copyStatement(const TablePlan& table, const Offsets& offsets, std::int64_t shiftNs);

// `column` of a source row, as an SQL expression that gives the target's value.
std::string translated(const ColumnPlan& column,
                       const std::string& table,
                       const Offsets& offsets,
                       std::int64_t shiftNs);

// The declarations that the test holds against the schema.
const std::vector<std::string_view>& timeColumns();      // shifted wherever they stand
const std::vector<std::string_view>& durationColumns();  // end in _ns, but are no times
const std::vector<std::string_view>&
foreignIdColumns();  // end in _id, but are no ids of this schema's rows

}  // namespace sonde::engine::merge
