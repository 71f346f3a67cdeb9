// A trace that a test writes, and its summary tables.
#pragma once

#include "analysis/engine/summaries/summaries.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::metrics {

class SummariesFixture : public ::testing::Test {
 protected:
  explicit SummariesFixture(void (*write)(const std::string& path)) { write(folder_ / "t.sonde"); }

  // The rows of a table, by its titles.
  std::vector<std::map<std::string, SummaryCell>> rowsOf(std::string_view name) {
    const store::Database trace = test::must(store::openTrace(folder_ / "t.sonde"));
    const SummaryTable table = test::must(summarise(trace, name));
    std::vector<std::map<std::string, SummaryCell>> rows;
    for (const auto& row : table.rows) {
      EXPECT_EQ(row.size(), table.columns.size());
      auto& cells = rows.emplace_back();
      for (std::size_t at = 0; at < row.size(); ++at)
        cells[table.columns[at].title] = row[at];
    }
    return rows;
  }
  std::vector<std::string> titlesOf(std::string_view name) {
    const store::Database trace = test::must(store::openTrace(folder_ / "t.sonde"));
    std::vector<std::string> titles;
    for (const SummaryColumn& column : test::must(summarise(trace, name)).columns)
      titles.push_back(column.title);
    return titles;
  }
  static SummaryCell whole(std::int64_t value) { return value; }

  test::TemporaryFolder folder_;
};

}  // namespace sonde::engine::metrics
