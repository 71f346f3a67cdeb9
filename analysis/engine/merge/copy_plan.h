// The plan for copying each table of a trace into another trace: which columns are ids to move,
// which refer to rows of other tables, and which are times to shift. It follows the schema's
// foreign keys, so new tables need no change here. copy_plan.cpp declares what the schema does not
// contain; a test compares those declarations with the schema. Plain values; any thread.
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
  Reference,    // id of a row of `target`
  Polymorphic,  // id of a row of the table that column `target` names
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

// Covers all tables of the database except those that a merge makes itself.
Result<CopyPlan> planCopies(const store::Database& trace);

// Whether the table is copied row by row. string, host, device and meta are joined instead; others
// are rebuilt.
bool isCopied(std::string_view table);
// Whether ids of the table are looked up in temp.map_<table>(old_id, new_id). Ids of other tables
// move by a constant.
bool isMapped(std::string_view table);

// The offset of a source's ids in the target, by table.
using Offsets = std::map<std::string, std::int64_t>;

// INSERT INTO main.<table> … SELECT … FROM source.<table>.
std::string copyStatement(const TablePlan& table, const Offsets& offsets, std::int64_t shiftNs);

// An SQL expression that turns `column` of a source row into the target's value.
std::string translated(const ColumnPlan& column,
                       const std::string& table,
                       const Offsets& offsets,
                       std::int64_t shiftNs);

// The declarations that the test compares with the schema.
const std::vector<std::string_view>& timeColumns();      // shifted in every table
const std::vector<std::string_view>& durationColumns();  // end in _ns, but are not times
const std::vector<std::string_view>&
foreignIdColumns();  // end in _id, but are not ids of this schema's rows

}  // namespace sonde::engine::merge
