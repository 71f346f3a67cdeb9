// The summary tables that Nsight Systems lacks: operators, collectives, files.
#include "tests/engine/summaries/summaries_fixture.h"

namespace sonde::engine::metrics {
namespace {

using model::SliceKind;

// Two operators; two all-reduces of a megabyte each, which wait 300 and 100 ns; three reads of one
// file, one without a known size, and a write of another.
void writeOwnTrace(const std::string& path) {
  test::TraceBuilder trace(path);
  const auto host = trace.add(model::Host{.name = "h"});
  const auto process = trace.add(model::Process{.hostId = host, .pid = 10});
  const auto thread = trace.add(model::Thread{.processId = process, .tid = 10});
  trace.slice(thread, SliceKind::Operator, "aten::mm", {0, 400});
  trace.slice(thread, SliceKind::Operator, "aten::mm", {1000, 1200});
  trace.slice(thread, SliceKind::Operator, "aten::add", {2000, 2100});
  const auto group = trace.add(
      model::Communicator{.processId = process, .jobKey = "job", .size = 8, .backend = "nccl"});
  const auto reduce = [&](std::int64_t start, std::int64_t wait) {
    trace.add(model::Collective{.processId = process,
                                .communicatorId = group,
                                .bytes = 1'000'000,
                                .startNs = start,
                                .durNs = 500,
                                .waitNs = wait});
  };
  reduce(3000, 300);
  reduce(4000, 100);
  const auto access = [&](const char* call, const char* file, std::int64_t start, auto bytes) {
    const auto slice = trace.slice(thread, SliceKind::Io, call, {start, start + 10}, {}, "io");
    trace.add(model::FileAccess{.sliceId = slice, .pathId = trace.name(file), .bytes = bytes});
  };
  access("read", "data.bin", 5000, std::optional<std::int64_t>(2'000'000));
  access("read", "data.bin", 5100, std::optional<std::int64_t>(1'000'000));
  access("read", "data.bin", 5200, std::optional<std::int64_t>());
  access("write", "model.pt", 5300, std::optional<std::int64_t>(500'000));
  trace.finish();
}

class OwnSummariesTest : public SummariesFixture {
 protected:
  OwnSummariesTest() : SummariesFixture(writeOwnTrace) {}
};

TEST_F(OwnSummariesTest, AddUpOperatorsByName) {
  const auto rows = rowsOf("operator_sum");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("Name"), SummaryCell("aten::mm"));
  EXPECT_EQ(rows[0].at("Total Time (ns)"), whole(600));
  EXPECT_EQ(rows[0].at("Instances"), whole(2));
  EXPECT_EQ(rows[1].at("Name"), SummaryCell("aten::add"));
}

TEST_F(OwnSummariesTest, AddUpCollectivesWithTheirBytesAndWaiting) {
  const auto rows = rowsOf("collective_sum");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("Collective"), SummaryCell("allreduce"));
  EXPECT_EQ(rows[0].at("Ranks"), whole(8));
  EXPECT_EQ(rows[0].at("Backend"), SummaryCell("nccl"));
  EXPECT_EQ(rows[0].at("Total Time (ns)"), whole(1000));
  EXPECT_EQ(rows[0].at("Waiting (ns)"), whole(400));
  EXPECT_EQ(rows[0].at("Bytes (MB)"), SummaryCell(2.0));
}

TEST_F(OwnSummariesTest, AddUpCallsByFile) {
  const auto rows = rowsOf("file_sum");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("File"), SummaryCell("data.bin"));
  EXPECT_EQ(rows[0].at("Call"), SummaryCell("read"));
  EXPECT_EQ(rows[0].at("Num Calls"), whole(3));
  EXPECT_EQ(rows[0].at("Bytes (MB)"), SummaryCell(3.0));
  EXPECT_EQ(rows[1].at("File"), SummaryCell("model.pt"));
  EXPECT_EQ(rows[1].at("Bytes (MB)"), SummaryCell(0.5));
}

}  // namespace
}  // namespace sonde::engine::metrics
