#include "gui/models/flame/call_tree_model.h"

#include <QAbstractItemModelTester>
#include <QPersistentModelIndex>

#include <gtest/gtest.h>

namespace sonde::gui {
namespace {

using engine::callpaths::CallTreeBuilder;
using engine::callpaths::kRoot;

constexpr auto kFailAtOnce = QAbstractItemModelTester::FailureReportingMode::Fatal;

// main 60 ns: b 40 (4 calls), a 20 (10 calls) of which c 5.
CallTreeModel::Tree callTree() {
  CallTreeBuilder builder;
  const auto main = builder.child(kRoot, builder.nameOf("main"));
  const auto a = builder.child(main, builder.nameOf("a"));
  builder.add(a, 15, 9);
  builder.add(builder.child(a, builder.nameOf("c")), 5, 1);
  builder.add(builder.child(main, builder.nameOf("b")), 40, 4);
  return std::make_shared<const engine::callpaths::CallTree>(
      std::move(builder).finish(CallTreeBuilder::Given::Selves));
}

QStringList namesBelow(const CallTreeModel& model, const QModelIndex& parent) {
  QStringList names;
  for (int row = 0; row < model.rowCount(parent); ++row)
    names << model.index(row, CallTreeModel::Name, parent).data().toString();
  return names;
}

TEST(CallTreeModel, IsAWellFormedTreeThroughChanges) {
  CallTreeModel model;
  const QAbstractItemModelTester tester(&model, kFailAtOnce);
  model.show(callTree(), ValueKind::Duration);
  model.sort(CallTreeModel::Name, Qt::AscendingOrder);
  model.sort(CallTreeModel::Count, Qt::DescendingOrder);
  model.show(nullptr, ValueKind::Duration);
  EXPECT_EQ(model.rowCount({}), 0);
  model.show(callTree(), ValueKind::Bytes);
  EXPECT_EQ(model.rowCount({}), 1);
}

TEST(CallTreeModel, HasTotalSelfShareAndCount) {
  CallTreeModel model;
  model.show(callTree(), ValueKind::Duration);
  const QModelIndex main = model.index(0, 0, {});
  EXPECT_EQ(namesBelow(model, main), (QStringList{"b", "a"}));
  const auto value = [&](int column) {
    return model.index(1, column, main).data(ValueTable::kValueRole);
  };
  EXPECT_EQ(value(CallTreeModel::Total).toLongLong(), 20);
  EXPECT_EQ(value(CallTreeModel::Self).toLongLong(), 15);
  EXPECT_DOUBLE_EQ(value(CallTreeModel::Share).toDouble(), 20.0 / 60);
  EXPECT_EQ(value(CallTreeModel::Count).toLongLong(), 10);
  EXPECT_EQ(model.parent(model.index(1, 2, main)), main);
}

TEST(CallTreeModel, SortsTheChildrenOfEachNodeAndKeepsIndexes) {
  CallTreeModel model;
  model.show(callTree(), ValueKind::Duration);
  const QModelIndex main = model.index(0, 0, {});
  const QPersistentModelIndex a = model.index(1, 0, main);
  model.sort(CallTreeModel::Count, Qt::DescendingOrder);
  EXPECT_EQ(namesBelow(model, main), (QStringList{"a", "b"}));
  EXPECT_EQ(a.row(), 0);
  EXPECT_EQ(a.data().toString(), "a");
  EXPECT_EQ(namesBelow(model, a), QStringList{"c"});
  model.sort(CallTreeModel::Name, Qt::DescendingOrder);
  EXPECT_EQ(namesBelow(model, main), (QStringList{"b", "a"}));
}

}  // namespace
}  // namespace sonde::gui
