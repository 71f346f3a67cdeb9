#include "tests/store/trace_dump.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

namespace sonde::store {
namespace {

std::vector<std::string> rowsOf(const Database& trace, const std::string& sql) {
  auto statement = trace.prepare(sql);
  EXPECT_TRUE(statement) << sql;
  std::vector<std::string> rows;
  while (*statement->step()) {
    std::string row;
    for (int column = 0; column < statement->columnCount(); ++column)
      row += (statement->isNull(column) ? "NULL" : std::string(statement->text(column))) + "|";
    rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace

std::string dump(const Database& trace) {
  std::string all;
  for (const std::string& line :
       rowsOf(trace, "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"))
    all += line + "\n";
  for (const std::string& entry :
       rowsOf(trace,
              "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")) {
    const std::string table = entry.substr(0, entry.size() - 1);
    for (const std::string& row : rowsOf(trace, "SELECT * FROM " + table)) {
      if (table != "meta" || (row.rfind("created|", 0) != 0 && row.rfind("finished|", 0) != 0))
        all += table + ": " + row + "\n";
    }
  }
  return all;
}

std::string firstDifference(const std::string& left, const std::string& right) {
  std::istringstream a(left);
  std::istringstream b(right);
  std::string lineA;
  std::string lineB;
  for (;;) {
    const bool moreA = static_cast<bool>(std::getline(a, lineA));
    const bool moreB = static_cast<bool>(std::getline(b, lineB));
    if (!moreA && !moreB)
      return {};
    if (moreA != moreB || lineA != lineB)
      return "'" + (moreA ? lineA : "") + "' and '" + (moreB ? lineB : "") + "'";
  }
}

}  // namespace sonde::store
