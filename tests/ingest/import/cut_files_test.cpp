// Files that end too early, at any byte: complete events are imported, or the file is refused.
// Nothing crashes or hangs, and no event is imported twice.
#include "analysis/ingest/import_job.h"
#include "tests/ingest/input/gzip_text.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>

namespace sonde::ingest {
namespace {

constexpr int kCuts = 300;
constexpr int kEvents = 40;

// Repeats one event of each kind, with the members around them.
std::string wholeTrace() {
  const std::string sorts[] = {
      R"({"ph": "X", "cat": "cpu_op", "name": "aten::é\\", "pid": 1, "tid": 2, "ts": 10.5, "dur": 3, "args": {"a": [1, {"b": "]}"}]}})",
      R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 11, "dur": 1, "args": {"correlation": 5}})",
      R"({"ph": "X", "cat": "kernel", "name": "k<1>", "pid": 0, "tid": 7, "ts": 20.001, "dur": 4, "args": {"correlation": 5, "stream": 7, "device": 0, "grid": [1, 2, 3]}})",
      R"({"ph": "s", "id": 5, "pid": 1, "tid": 2, "ts": 11, "cat": "fwdbwd", "name": "fwdbwd"})",
      R"({"ph": "b", "id": "0x5", "cat": "c", "pid": 1, "tid": 2, "ts": 11, "name": "open"})",
      R"({"ph": "C", "name": "memory", "pid": 1, "ts": 12, "args": {"bytes": 5}})",
      R"({"ph": "i", "name": "mark", "pid": 1, "tid": 2, "ts": 13, "s": "t"})",
      R"({"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}})"};
  std::string text = R"({"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 1},
    "traceEvents": [)";
  for (int event = 0; event < kEvents; ++event)
    text += (event == 0 ? "" : ",\n") + sorts[static_cast<std::size_t>(event) % std::size(sorts)];
  return text + R"(], "baseTimeNanoseconds": 1700000000000000000, "traceName": "x"})";
}

class CutFiles : public ::testing::TestWithParam<bool> {
 protected:
  // The number of imported events; -1: refused.
  std::int64_t import(const std::string& content) {
    const std::string file = folder_ / "rank0.json";
    const std::filesystem::path part = folder_ / "t.sonde";
    test::writeText(file, content);
    std::filesystem::remove(part);
    ImportJob job = test::must(ImportJob::create(part, {}));
    if (const auto added = job.add({file}); !added) {
      EXPECT_EQ(added.error().code, ErrorCode::Corrupt) << added.error().message;
      EXPECT_NE(added.error().message.find(file), std::string::npos) << added.error().message;
      return -1;
    }
    std::int64_t events = 0;
    for (const auto& [category, count] : job.summary().read)
      events += static_cast<std::int64_t>(count);
    EXPECT_TRUE(events == kEvents || !job.summary().warnings.empty());
    EXPECT_TRUE(job.release());
    return events;
  }

  test::TemporaryFolder folder_;
};

TEST_P(CutFiles, GiveWhatIsWholeOrARefusal) {
  const std::string whole = GetParam() ? test::gzip(wholeTrace()) : wholeTrace();
  ASSERT_EQ(import(whole), kEvents);
  std::mt19937 random(20261122);  // the same cuts in every run
  std::int64_t partly = 0;
  for (int cut = 0; cut < kCuts; ++cut) {
    const std::size_t size = random() % whole.size();
    const std::int64_t events = import(whole.substr(0, size));
    ASSERT_LE(events, kEvents) << "cut at " << size;
    partly += events > 0 && events < kEvents ? 1 : 0;
  }
  EXPECT_GT(partly, GetParam() ? 0 : kCuts / 2);
}

INSTANTIATE_TEST_SUITE_P(PlainAndGzip, CutFiles, ::testing::Bool());

}  // namespace
}  // namespace sonde::ingest
