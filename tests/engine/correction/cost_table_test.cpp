#include "analysis/engine/correction/cost_table.h"

#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace sonde::engine::correction {
namespace {

using test::must;

// A process, its child and the child's child.
class CostTableTest : public ::testing::Test {
 protected:
  CostTableTest() {
    const auto host = trace_.add(model::Host{.name = "h", .bootId = "b"});
    model::ProcessId parent;
    for (model::ProcessId& process : processes_) {
      process =
          trace_.add(model::Process{.hostId = host, .pid = 7, .parentId = parent, .command = "a"});
      parent = process;
    }
  }
  void cost(double meanNs, model::ProcessId process = {}) {
    trace_.add(model::Overhead{
        .probe = "io", .api = "call", .meanNs = meanNs, .method = "in-run", .processId = process});
  }
  CostTable read() {
    trace_.finish(false);
    return must(CostTable::read(must(store::openTrace(path_))));
  }
  // The cost of a call in the process, counted from the eldest; 0: unknown.
  double sumIn(const CostTable& table, std::size_t process) const {
    const auto found = table.find({"io", "call"}, processes_[process].value);
    return found ? table.costs()[*found].sumNs() : 0;
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  test::TraceBuilder trace_{path_};
  model::ProcessId processes_[3];
};

TEST_F(CostTableTest, WhatAParentCostsHoldsForItsChildren) {
  cost(100);
  cost(200, processes_[0]);
  cost(300, processes_[2]);
  const CostTable table = read();
  EXPECT_DOUBLE_EQ(sumIn(table, 0), 200);
  EXPECT_DOUBLE_EQ(sumIn(table, 1), 200) << "its parent's, before that of all";
  EXPECT_DOUBLE_EQ(sumIn(table, 2), 300) << "its own";
}

TEST_F(CostTableTest, OneThatNoParentHasIsThatOfAll) {
  cost(300, processes_[2]);
  cost(100);
  const CostTable table = read();
  EXPECT_DOUBLE_EQ(sumIn(table, 0), 100);
  EXPECT_DOUBLE_EQ(sumIn(table, 1), 100);
}

TEST_F(CostTableTest, ThePartsOfACostAreItsSum) {
  trace_.add(model::Overhead{.probe = "io",
                             .api = "call",
                             .meanNs = 100,
                             .method = "in-run",
                             .beforeNs = 25,
                             .insideNs = 60});
  const EventCost split = read().costs().at(0);
  EXPECT_DOUBLE_EQ(split.beforeNs, 25);
  EXPECT_DOUBLE_EQ(split.insideNs, 60);
  EXPECT_DOUBLE_EQ(split.afterNs, 15);
}

}  // namespace
}  // namespace sonde::engine::correction
