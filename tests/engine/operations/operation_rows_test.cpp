#include "analysis/engine/operations/operation_rows.h"

#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::engine::operations {
namespace {

using ::testing::HasSubstr;

class OperationRowsTest : public ::testing::Test {
 protected:
  model::ThreadId addWorker(std::int64_t dataParallel, std::int64_t stage) {
    model::Process process;
    process.hostId = host_;
    process.rank = rank_++;
    const model::ProcessId id = trace_.add(process);
    trace_.add(model::Arg{
        model::Owner::Process, id.value, trace_.name("sonde.data_parallel"), dataParallel});
    trace_.add(model::Arg{model::Owner::Process, id.value, trace_.name("sonde.stage"), stage});
    model::Thread thread;
    thread.processId = id;
    return trace_.add(thread);
  }
  void addOperation(model::ThreadId thread,
                    std::string_view type,
                    std::int64_t at,
                    const std::string& args) {
    const auto slice =
        trace_.slice(thread, model::SliceKind::Operation, type, {at, at + 10}, {}, "");
    trace_.add(
        model::Arg{model::Owner::Slice, slice.value, trace_.name("args"), std::string_view(args)});
  }
  Result<OperationRows> read(bool isOperationLevel = true) {
    if (isOperationLevel)
      trace_.meta("operation_level", "1");
    trace_.finish();
    const auto opened = store::openTrace(path_);
    EXPECT_TRUE(opened);
    return readOperations(*opened);
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  test::TraceBuilder trace_{path_};
  model::HostId host_ = trace_.add(model::Host{});
  std::int64_t rank_ = 0;
};

TEST_F(OperationRowsTest, GroupsOperationsByStep) {
  const auto last = addWorker(0, 1);
  const auto first = addWorker(0, 0);
  addOperation(first, "forward-compute", 500, R"({"step": 9, "model_chunk": 2})");
  addOperation(last, "backward-compute", 300, R"({"step": 9})");
  addOperation(last, "gc", 100, R"({"step": 3})");
  const auto rows = read();
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->stages, 2);
  ASSERT_EQ(rows->workers.size(), 2U);
  EXPECT_EQ(rows->workers[0].rank, 1);  // by stage
  ASSERT_EQ(rows->steps.size(), 2U);
  EXPECT_EQ(rows->steps[0].number, 3);
  const auto& operations = rows->steps[1].operations;
  ASSERT_EQ(operations.size(), 2U);
  EXPECT_EQ(operations[0].type, model::OperationType::Backward);
  EXPECT_EQ(operations[0].worker, 1U);
  EXPECT_EQ(operations[0].chunk, -1);
  EXPECT_EQ(operations[1].chunk, 2);
  EXPECT_EQ(operations[1].endNs(), 510);
}

TEST_F(OperationRowsTest, CountsOthers) {
  const auto worker = addWorker(0, 0);
  addOperation(worker, "gc", 100, R"({"step": 3})");
  addOperation(worker, "warm-up", 100, R"({"step": 3})");
  addOperation(worker, "gc", 200, R"({"mb_id": 3})");
  addOperation(worker, "gc", 300, "no JSON");
  const auto rows = read();
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->unknown, 1);
  EXPECT_EQ(rows->stepless, 2);
}

TEST_F(OperationRowsTest, RefusesOtherTraces) {
  addOperation(addWorker(0, 0), "gc", 100, R"({"step": 3})");
  const auto rows = read(false);
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().code, ErrorCode::Unsupported);
}

TEST_F(OperationRowsTest, RefusesAWorkerTwice) {
  addWorker(1, 0);
  addOperation(addWorker(1, 0), "gc", 100, R"({"step": 3})");
  const auto rows = read();
  ASSERT_FALSE(rows);
  EXPECT_THAT(rows.error().message,
              HasSubstr("stage 0 of data-parallel rank 1, and so is another"));
}

TEST_F(OperationRowsTest, RefusesTracesWithoutSteps) {
  addWorker(0, 0);
  const auto rows = read();
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace sonde::engine::operations
