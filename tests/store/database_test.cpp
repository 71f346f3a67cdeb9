#include "analysis/store/database.h"

#include "tests/store/expect_result.h"
#include "tests/store/temporary_folder.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace sonde::store {
namespace {

using testing::HasSubstr;

class InMemory : public testing::Test {
 protected:
  InMemory() : database_(*Database::inMemory()) {
    EXPECT_TRUE(database_.exec("CREATE TABLE t(a, b)"));
  }
  Database database_;
};

TEST_F(InMemory, BindsEveryType) {
  ASSERT_GOOD_ASSIGN(Statement row, database_.prepare("SELECT ?, ?, ?, ?, ?, ?, ?, ?"));
  row.bindAll(std::numeric_limits<std::int64_t>::min(),
              1.5,
              "text",
              std::string_view(),
              nullptr,
              StrongId<struct Tag>{},
              std::optional<double>(),
              std::nan(""));
  ASSERT_GOOD(row.step());
  EXPECT_EQ(row.integer(0), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(row.real(1), 1.5);
  EXPECT_EQ(row.text(2), "text");
  EXPECT_EQ(row.columnType(3), ColumnType::Text);
  EXPECT_EQ(row.text(3), "");
  for (const int column : {4, 5, 6, 7})
    EXPECT_TRUE(row.isNull(column)) << column;
  EXPECT_EQ(row.optionalInteger(0), row.integer(0));
  EXPECT_EQ(row.optionalInteger(4), std::nullopt);
}

TEST_F(InMemory, StepReportsABindingThatFailed) {
  ASSERT_GOOD_ASSIGN(Statement row, database_.prepare("SELECT ?"));
  row.bind(2, 1);
  const auto stepped = row.step();
  ASSERT_FALSE(stepped);
  EXPECT_THAT(stepped.error().message, HasSubstr("cannot bind"));
  ASSERT_GOOD(row.step());
}

TEST_F(InMemory, PreparesExactlyOneStatement) {
  EXPECT_TRUE(database_.prepare("SELECT 1;"));
  EXPECT_TRUE(database_.prepare("SELECT 1; -- and a comment\n"));
  EXPECT_FALSE(database_.prepare("SELECT 1; SELECT 2"));
  EXPECT_FALSE(database_.prepare("  -- nothing"));
  const auto wrong = database_.prepare("SELEC 1");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(wrong.error().message, HasSubstr("syntax error"));
}

TEST_F(InMemory, TellsReadingFromWriting) {
  ASSERT_GOOD_ASSIGN(const Statement reading, database_.prepare("SELECT * FROM t"));
  EXPECT_TRUE(reading.readOnly());
  EXPECT_EQ(reading.columnCount(), 2);
  EXPECT_EQ(reading.columnName(1), "b");
  ASSERT_GOOD_ASSIGN(const Statement writing, database_.prepare("DELETE FROM t"));
  EXPECT_FALSE(writing.readOnly());
}

TEST_F(InMemory, ATransactionThatIsNotCommittedRollsBack) {
  {
    ASSERT_GOOD_ASSIGN(const Transaction transaction, Transaction::begin(database_));
    ASSERT_GOOD(database_.exec("INSERT INTO t VALUES (1, 2)"));
  }
  EXPECT_FALSE(database_.inTransaction());
  {
    ASSERT_GOOD_ASSIGN(Transaction transaction, Transaction::begin(database_));
    ASSERT_GOOD(database_.exec("INSERT INTO t VALUES (3, 4)"));
    ASSERT_GOOD(transaction.commit());
  }
  ASSERT_GOOD_ASSIGN(const auto sum, database_.queryInteger("SELECT sum(a) FROM t"));
  EXPECT_EQ(sum, 3);
}

TEST_F(InMemory, AStatementIsUsableAgainAfterAnError) {
  ASSERT_GOOD(database_.exec("CREATE TABLE u(a PRIMARY KEY)"));
  ASSERT_GOOD_ASSIGN(Statement insert, database_.prepare("INSERT INTO u VALUES (?)"));
  ASSERT_GOOD(insert.bindAll(1).run());
  EXPECT_FALSE(insert.bindAll(1).run());
  ASSERT_GOOD(insert.bindAll(2).run());
  ASSERT_GOOD_ASSIGN(const auto count, database_.queryInteger("SELECT count(*) FROM u"));
  EXPECT_EQ(count, 2);
}

TEST_F(InMemory, StopsWhenItIsNoLongerWanted) {
  bool isToStop = false;
  database_.stopWhen([&] { return isToStop; });
  ASSERT_GOOD_ASSIGN(Statement endless,
                     database_.prepare("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                                       "FROM n) SELECT i FROM n"));
  for (int row = 0; row < 10; ++row)
    ASSERT_TRUE(*endless.step());
  isToStop = true;
  Result<bool> stepped = true;
  for (int row = 0; stepped && row < 1'000'000; ++row)
    stepped = endless.step();
  ASSERT_FALSE(stepped);
  EXPECT_THAT(stepped.error().message, HasSubstr("interrupted"));
  EXPECT_FALSE(database_.queryInteger("SELECT 1"));
  Database moved = std::move(database_);
  EXPECT_FALSE(moved.queryInteger("SELECT 1"));
  moved.stopWhen({});
  EXPECT_TRUE(moved.queryInteger("SELECT 1"));
  database_ = std::move(moved);
}

TEST_F(InMemory, QueriesSayWhenThereIsNoRow) {
  const auto none = database_.queryInteger("SELECT a FROM t");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::NotFound);
}

class OnDisk : public TemporaryFolder {};

TEST_F(OnDisk, ReadOnlyDoesNotMakeAFile) {
  const auto opened = Database::open(file("none"), Access::ReadOnly);
  EXPECT_FALSE(opened);
  EXPECT_FALSE(std::filesystem::exists(file("none")));
}

}  // namespace
}  // namespace sonde::store
