#include "gui/models/table/value_table.h"

#include "gui/models/table/row_filter.h"

#include <QAbstractItemModelTester>

#include <gtest/gtest.h>

#include <string>

namespace sonde::gui {
namespace {

QVariant integer(qlonglong value) {
  return QVariant::fromValue(value);
}

// With usual spaces between numbers and units.
std::string plain(const QVariant& text) {
  return text.toString().replace(QChar(0xA0), u' ').replace(QChar(0x202F), u' ').toStdString();
}

class ValueTableTest : public ::testing::Test {
 protected:
  ValueTableTest()
      : table_({{"name"}, {"time", ValueKind::Duration, "of all"}, {"share", ValueKind::Share}}),
        tester_(&table_) {
    shown_.setSourceModel(&table_);
    table_.show({{{"gemm, large", integer(2'500'000), 0.5}, {.name = "gemm"}},
                 {{"copy|\"to\"", integer(900), QVariant()}},
                 {{"Add", integer(10'000'000), 0.25}}});
  }

  [[nodiscard]] QStringList names() const {
    QStringList names;
    for (int row = 0; row < shown_.rowCount(); ++row)
      names << shown_.index(row, 0).data().toString().left(4);
    return names;
  }

  ValueTable table_;
  QAbstractItemModelTester tester_;
  RowFilter shown_;
};

TEST_F(ValueTableTest, WritesValuesByTheirKinds) {
  EXPECT_EQ(plain(table_.index(0, 1).data()), "2.500 ms");
  EXPECT_EQ(plain(table_.index(0, 1).data(Qt::ToolTipRole)), "2 500 000 ns");
  EXPECT_EQ(plain(table_.index(0, 2).data()), "50.0 %");
  EXPECT_EQ(plain(table_.index(1, 2).data()), "");
  EXPECT_EQ(plain(table_.headerData(1, Qt::Horizontal, Qt::ToolTipRole)), "of all");
  EXPECT_EQ(plain(numberText(1536, ValueKind::Bytes)), "1.5 KiB");
}

TEST_F(ValueTableTest, SortsByValuesAndUnknownOnesLast) {
  QAbstractItemModelTester tester(&shown_);
  shown_.sort(1, Qt::DescendingOrder);
  EXPECT_EQ(names(), (QStringList{"Add", "gemm", "copy"}));
  shown_.sort(2, Qt::DescendingOrder);
  EXPECT_EQ(names(), (QStringList{"gemm", "Add", "copy"}));
  shown_.sort(0, Qt::AscendingOrder);
  EXPECT_EQ(names(), (QStringList{"Add", "copy", "gemm"}));
}

TEST_F(ValueTableTest, KeepsRowsThatContainAllWords) {
  shown_.setText("LARGE gemm");
  EXPECT_EQ(names(), QStringList{"gemm"});
  shown_.setText("ms");
  EXPECT_EQ(names(), (QStringList{"gemm", "Add"}));
  shown_.setText("nothing has this");
  EXPECT_EQ(names(), QStringList());
  shown_.setText("");
  EXPECT_EQ(names().size(), 3);
}

TEST_F(ValueTableTest, CopiesAreQuotedAndHaveTheOrderOnScreen) {
  shown_.sort(1, Qt::AscendingOrder);
  EXPECT_EQ(toCsv(shown_).toStdString(),
            "name,time,share\r\n\"copy|\"\"to\"\"\",900,\r\n\"gemm, large\",2500000,0.5\r\n"
            "Add,10000000,0.25\r\n");
  EXPECT_EQ(plain(toMarkdown(shown_)),
            "| name | time | share |\n| --- | ---: | ---: |\n| copy\\|\"to\" | 900 ns |  |\n"
            "| gemm, large | 2.500 ms | 50.0 % |\n| Add | 10.00 ms | 25.0 % |\n");
}

}  // namespace
}  // namespace sonde::gui
