#include "analysis/store/read_rows.h"

#include "tests/store/expect_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Row {
  std::int64_t startNs = 0;
  std::optional<std::int64_t> durNs;
  std::optional<double> share;
  std::string name;
  bool isOpen = false;

  SONDE_COLUMNS(startNs, durNs, share, name, isOpen)
};

Database memory() {
  return *Database::inMemory();
}

TEST(ReadRows, FindsColumnsByNameInAnyOrder) {
  const auto rows = readAll<Row>(memory(),
                                 "SELECT 'a' AS name, 1 AS is_open, 7 AS dur_ns, 0.5 AS share, 99 "
                                 "AS other, 3 AS start_ns");
  ASSERT_GOOD(rows);
  ASSERT_EQ(rows->size(), 1U);
  const Row& row = rows->front();
  EXPECT_EQ(row.startNs, 3);
  EXPECT_EQ(row.durNs, 7);
  EXPECT_EQ(row.share, 0.5);
  EXPECT_EQ(row.name, "a");
  EXPECT_TRUE(row.isOpen);
}

TEST(ReadRows, ANullIsNoValueAndNotThatOfTheRowBefore) {
  const auto rows = readAll<Row>(
      memory(),
      "SELECT 1 AS start_ns, 2 AS dur_ns, 0.5 AS share, 'a' AS name, 1 AS is_open UNION ALL SELECT "
      "NULL, NULL, NULL, NULL, NULL");
  ASSERT_GOOD(rows);
  ASSERT_EQ(rows->size(), 2U);
  const Row& row = rows->back();
  EXPECT_EQ(row.startNs, 0);
  EXPECT_EQ(row.durNs, std::nullopt);
  EXPECT_EQ(row.share, std::nullopt);
  EXPECT_EQ(row.name, "");
  EXPECT_FALSE(row.isOpen);
}

TEST(ReadRows, NamesAColumnThatTheQueryLacks) {
  const auto rows = readAll<Row>(memory(), "SELECT 1 AS start_ns, 2 AS dur_ns");
  ASSERT_FALSE(rows);
  EXPECT_THAT(rows.error().message, HasSubstr("no column share in: SELECT"));
}

TEST(ReadRows, EndsAtTheFirstErrorOfTheReader) {
  int calls = 0;
  const auto read = forEach<Row>(memory(),
                                 "SELECT 1 AS start_ns, 2 AS dur_ns, 1 AS share, 'a' AS name, 0 AS "
                                 "is_open UNION ALL SELECT 2, "
                                 "2, 1, 'b', 0",
                                 [&](const Row&) -> Result<void> {
                                   ++calls;
                                   return Error{ErrorCode::Corrupt, "no more"};
                                 });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "no more");
  EXPECT_EQ(calls, 1);
}

TEST(Columns, AreTheMembersInSnakeCase) {
  EXPECT_THAT(columnNames("id, startNs, grid.x, work.launchDelayNs, slice.id, slice.scopeHow"),
              ElementsAre("id", "start_ns", "grid_x", "launch_delay_ns", "slice_id", "scope_how"));
}

}  // namespace
}  // namespace sonde::store
