#include "analysis/store/row_buffer.h"

#include "tests/store/expect_result.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <string>

namespace sonde::store {
namespace {

class RowBufferTest : public testing::Test {
 protected:
  RowBufferTest() : database_(*Database::inMemory()) {
    EXPECT_TRUE(database_.exec("CREATE TABLE t(a INTEGER UNIQUE, b)"));
  }
  RowBuffer open(std::string_view verb = "INSERT") {
    return *RowBuffer::open(database_, verb, "t", "a, b");
  }
  std::int64_t count() { return *database_.queryInteger("SELECT count(*) FROM t"); }

  Database database_;
};

Result<void> addRow(RowBuffer& rows, std::int64_t a, std::string_view b) {
  rows.integer(a);
  rows.text(b);
  return rows.endRow();
}

TEST_F(RowBufferTest, StoresEveryTypeAsItWasGiven) {
  RowBuffer rows = open();
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  rows.integer(kLeast);
  rows.null();
  ASSERT_GOOD(rows.endRow());
  rows.integer(1);
  rows.real(-0.5);
  ASSERT_GOOD(rows.endRow());
  rows.integer(2);
  rows.real(std::nan(""));
  ASSERT_GOOD(rows.endRow());
  ASSERT_GOOD(addRow(rows, 3, ""));
  ASSERT_GOOD(addRow(rows, 4, std::string_view("a\0b", 3)));
  ASSERT_GOOD(rows.flush());
  ASSERT_GOOD_ASSIGN(Statement stored,
                     database_.prepare("SELECT a, typeof(b), b FROM t ORDER BY a"));
  const auto next = [&] {
    EXPECT_TRUE(*stored.step());
    return stored.integer(0);
  };
  EXPECT_EQ(next(), kLeast);
  EXPECT_EQ(stored.text(1), "null");
  EXPECT_EQ(next(), 1);
  EXPECT_EQ(stored.real(2), -0.5);
  EXPECT_EQ(next(), 2);
  EXPECT_EQ(stored.text(1), "null");
  EXPECT_EQ(next(), 3);
  EXPECT_EQ(stored.text(1), "text");
  EXPECT_EQ(stored.text(2), "");
  EXPECT_EQ(next(), 4);
  EXPECT_EQ(stored.text(2), std::string_view("a\0b", 3));
}

TEST_F(RowBufferTest, StoresManyRowsByItselfAndKeepsTheirOrder) {
  RowBuffer rows = open();
  for (std::int64_t i = 0; i < 10'000; ++i)
    ASSERT_GOOD(addRow(rows, i, std::to_string(i)));
  EXPECT_GT(count(), 9'000);
  ASSERT_GOOD(rows.flush());
  EXPECT_EQ(count(), 10'000);
  EXPECT_EQ(*database_.queryInteger("SELECT count(*) FROM t WHERE a = rowid - 1 AND b = a"),
            10'000);
}

TEST_F(RowBufferTest, DoesNotHoardLongTexts) {
  RowBuffer rows = open();
  const std::string text(600'000, 'x');
  ASSERT_GOOD(addRow(rows, 1, text));
  EXPECT_EQ(count(), 0);
  ASSERT_GOOD(addRow(rows, 2, text));
  EXPECT_EQ(count(), 2);
}

TEST_F(RowBufferTest, ReplacesTheRowOfTheSameKey) {
  RowBuffer rows = open("INSERT OR REPLACE");
  ASSERT_GOOD(addRow(rows, 1, "old"));
  ASSERT_GOOD(addRow(rows, 1, "new"));
  ASSERT_GOOD(rows.flush());
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(*database_.queryText("SELECT b FROM t"), "new");
}

TEST_F(RowBufferTest, TellsOfARowThatIsRefusedAndGoesOn) {
  RowBuffer rows = open();
  ASSERT_GOOD(addRow(rows, 1, "first"));
  ASSERT_GOOD(addRow(rows, 1, "second"));
  const auto refused = rows.flush();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("UNIQUE"));
  ASSERT_GOOD(rows.flush());  // no rows wait any more
  ASSERT_GOOD(addRow(rows, 7, "third"));
  ASSERT_GOOD(rows.flush());
  EXPECT_EQ(*database_.queryInteger("SELECT count(*) FROM t WHERE a = 7"), 1);
}

TEST_F(RowBufferTest, DropsWhatWaits) {
  {
    RowBuffer rows = open();
    ASSERT_GOOD(addRow(rows, 1, "dropped"));
    rows.clear();
    ASSERT_GOOD(rows.flush());
    EXPECT_EQ(count(), 0);
    ASSERT_GOOD(addRow(rows, 1, "gone with it"));
  }
  EXPECT_EQ(count(), 0);
  EXPECT_FALSE(database_.queryInteger("SELECT count(*) FROM new_t"));  // nor its virtual table
  RowBuffer again = open();
  ASSERT_GOOD(addRow(again, 1, "stored"));
  ASSERT_GOOD(again.flush());
  EXPECT_EQ(count(), 1);
}

}  // namespace
}  // namespace sonde::store
