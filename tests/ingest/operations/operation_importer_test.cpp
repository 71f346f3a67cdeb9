// Operation-level traces as rows.
#include "analysis/ingest/operations/operation_importer.h"

#include "tests/ingest/import/damaged_files.h"
#include "tests/ingest/trace_event/trace_event_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <utility>

namespace sonde::ingest {
namespace {

using ::testing::HasSubstr;

using Pair = std::pair<int, int>;

// `place`: pid and tid. `time`: begin and duration.
std::string operation(const std::string& type, Pair place, Pair time, int step = 7) {
  const std::string args =
      fmt::format(R"({{"step": {}, "model_chunk": 0, "mb_id": 1, "seq_id": 2}})", step);
  return fmt::format(
      R"({{"ph": "X", "cat": "{0}", "name": "{0}", "pid": {1}, "tid": {2}, "ts": {3}, "dur": {4}, "args": {5}}})",
      type,
      place.first,
      place.second,
      time.first,
      time.second,
      args);
}

std::string threadName(int pid, int tid, const std::string& name) {
  return fmt::format(
      R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "args": {{"name": "{}"}}}})",
      pid,
      tid,
      name);
}

// Two data-parallel ranks with two stages, two tensor-parallel ranks each: ranks 0, 2, 4 and 6.
std::vector<std::string> fourWorkers() {
  std::vector<std::string> events;
  for (const int pid : {0, 1})
    for (const int stage : {0, 1}) {
      const int tid = 5 * (4 * stage + 2 * pid);
      events.push_back(threadName(pid, tid, fmt::format("PP rank {}, TP rank 0, compute", stage)));
      events.push_back(operation("forward-compute", {pid, tid}, {100 + 10 * stage, 10}));
    }
  return events;
}

class OperationImporterTest : public TraceEventImporterTest {
 protected:
  Error refusal(const std::vector<std::string>& events) {
    const auto imported = import({fmt::format("[{}]", fmt::join(events, ", "))});
    if (imported)
      ADD_FAILURE() << "imported";
    return imported ? Error{} : imported.error();
  }
  std::string workers() {
    return rows(
        "SELECT rank || ':' || world_size || ':' || group_concat(arg.value) AS concat_row FROM "
        "process JOIN arg ON arg.owner = 'process' AND owner_id = process.id JOIN string ON "
        "string.id = key_id WHERE text IN ('sonde.data_parallel', 'sonde.stage') GROUP BY "
        "process.id");
  }
};

TEST_F(OperationImporterTest, MakesAProcessOfEachWorker) {
  importEvents(fourWorkers());
  EXPECT_EQ(workers(), "0:8:0,0 4:8:0,1 2:8:1,0 6:8:1,1");
  EXPECT_EQ(rows("SELECT tid || ':' || name AS concat_row FROM thread WHERE tid > 20"),
            "30:PP rank 1, TP rank 0, compute");
  EXPECT_EQ(rows("SELECT value AS concat_row FROM meta WHERE key = 'operation_level'"), "1");
  EXPECT_TRUE(summary_.warnings.empty());
}

TEST_F(OperationImporterTest, NamesAndArgumentsStay) {
  std::vector<std::string> events = fourWorkers();
  for (const char* const type : {"backward-compute", "gc", "optimizer", "optimizer-clip-main-grad"})
    events.push_back(operation(type, {0, 0}, {200, 10}));
  events.push_back(operation("params-all-gather", {0, 3}, {50, 10}));
  events.push_back(threadName(0, 3, "PP rank 0, TP rank 0, dp-comm"));
  importEvents(events);
  EXPECT_EQ(rows("SELECT DISTINCT text || '=' || kind AS concat_row FROM slice JOIN string ON "
                 "string.id = name_id ORDER BY text"),
            "backward-compute=backward forward-compute=forward gc=operation optimizer=optimizer "
            "optimizer-clip-main-grad=optimizer params-all-gather=collective");
  EXPECT_EQ(rows("SELECT DISTINCT json_extract(value, '$.step') || ':' || json_extract(value, "
                 "'$.model_chunk') || ':' || json_extract(value, '$.mb_id') || ':' || "
                 "json_extract(value, '$.seq_id') AS concat_row FROM arg WHERE owner = 'slice'"),
            "7:0:1:2");
}

TEST_F(OperationImporterTest, AStepOfAWorkerIsAnIteration) {
  std::vector<std::string> events = fourWorkers();
  events.push_back(threadName(0, 1, "PP rank 0, TP rank 0, pp-comm"));
  events.push_back(operation("forward-send", {0, 1}, {105, 20}));
  events.push_back(operation("forward-compute", {0, 0}, {1000, 10}, 8));
  importEvents(events);
  EXPECT_EQ(rows("SELECT process_id || '/' || number || ':' || start_ns || '+' || dur_ns AS "
                 "concat_row FROM iteration"),
            "1/7:100000+25000 1/8:1000000+10000 2/7:110000+10000 3/7:100000+10000 "
            "4/7:110000+10000");
}

TEST_F(OperationImporterTest, SendsAndReceivesOverlapOnLanes) {
  std::vector<std::string> events = fourWorkers();
  events.push_back(threadName(0, 1, "PP rank 0, TP rank 0, pp-comm"));
  for (const char* const type : {"forward-send", "backward-recv"})
    events.push_back(operation(type, {0, 1}, {110, 5}));
  events.push_back(operation("forward-send", {0, 1}, {120, 5}));
  importEvents(events);
  EXPECT_EQ(rows("SELECT start_ns || ':' || lane || ':' || depth || ':' || ifnull(parent_id, '-') "
                 "AS concat_row FROM slice WHERE kind = 'collective' ORDER BY start_ns, lane"),
            "110000:0:0:- 110000:1:0:- 120000:0:0:-");
}

TEST_F(OperationImporterTest, WithoutUsableTidsRanksAreCounted) {
  std::vector<std::string> events;
  for (const int pid : {0, 1})
    for (const int stage : {0, 1}) {
      events.push_back(threadName(pid, stage, fmt::format("PP rank {}, compute", stage)));
      events.push_back(operation("forward-compute", {pid, stage}, {100, 10}));
    }
  importEvents(events);
  EXPECT_EQ(workers(), "0:4:0,0 2:4:0,1 1:4:1,0 3:4:1,1");
}

TEST_F(OperationImporterTest, ALayoutNamesTheStages) {
  std::vector<std::string> events;
  for (const int pid : {0, 1})
    for (const int tid : {10 * pid, 10 * pid + 1, 10 * pid + 40})
      events.push_back(operation("forward-compute", {pid, tid}, {100, 10}));
  EXPECT_THAT(refusal(events).message, HasSubstr("--layout dp=N,pp=N,tp=N"));
  EXPECT_EQ(refusal(events).code, ErrorCode::Unsupported);
  layout_ = {2, 2, 4};
  importEvents(events);
  EXPECT_EQ(workers(), "0:16:0,0 8:16:0,1 2:16:1,0 10:16:1,1");
  EXPECT_EQ(rows("SELECT name AS concat_row FROM thread WHERE tid < 10"), "compute pp-comm");
}

TEST_F(OperationImporterTest, RefusesLayoutsThatContradictTheFile) {
  const struct {
    OperationLayout layout;
    const char* message;
  } kCases[] = {{{2, 3, 1},
                 "the layout has 2 data-parallel ranks and 3 stages, but the file has 2 "
                 "and 2"},
                {{4, 2, 1}, "the layout has 4 data-parallel ranks"}};
  for (const auto& each : kCases) {
    layout_ = each.layout;
    const Error error = refusal(fourWorkers());
    EXPECT_THAT(error.message, HasSubstr(each.message));
    EXPECT_EQ(error.code, ErrorCode::InvalidArgument);
  }
  layout_ = {1, 2, 1};
  const Error groups = refusal({operation("forward-compute", {0, 0}, {1, 1})});
  EXPECT_THAT(groups.message, HasSubstr("the layout has 2 stages, but pid 0 has 1 groups"));
  const Error other = refusal({spanOf("cpu_op", "aten::mm", R"("ts": 1, "dur": 1)")});
  EXPECT_THAT(other.message, HasSubstr("leave out --layout"));
}

TEST_F(OperationImporterTest, RefusesIncompleteJobs) {
  std::vector<std::string> events = fourWorkers();
  events.push_back(threadName(1, 100, "PP rank 3, TP rank 0, compute"));
  events.push_back(operation("forward-compute", {1, 100}, {1, 1}));
  const Error missing = refusal(events);
  EXPECT_THAT(missing.message, HasSubstr("pid 0 has no operation of stage 2, and the job has 4"));
  EXPECT_EQ(missing.code, ErrorCode::Unsupported);
  events = fourWorkers();
  events.push_back(threadName(0, 5, "PP rank 0, TP rank 1, compute"));
  events.push_back(operation("forward-compute", {0, 5}, {1, 1}));
  EXPECT_THAT(refusal(events).message, HasSubstr("tensor-parallel ranks of pid 0, stage 0"));
  const std::string whole = fmt::format("[{}]", fmt::join(fourWorkers(), ", "));
  const auto two = import({whole, whole});
  ASSERT_FALSE(two);
  EXPECT_THAT(two.error().message, HasSubstr("import it alone"));
}

TEST_F(OperationImporterTest, CountsBadInput) {
  std::vector<std::string> events = fourWorkers();
  events.push_back(operation("warm-up", {0, 0}, {10, 1}));
  events.push_back(operation("forward-compute", {0, 0}, {300, -4}));
  events.emplace_back(R"({"ph": "X", "name": "gc", "pid": 0, "tid": 0, "ts": 400, "dur": 1})");
  events.emplace_back(R"({"ph": "X", "name": "gc", "pid": "x", "tid": 0, "ts": 400, "dur": 1})");
  events.emplace_back(R"({"ph": "X", "name": "gc", "pid": 0, "tid": 0, "ts": "?", "dur": 1})");
  events.emplace_back(R"({"ph": "i", "name": "gc", "pid": 0, "tid": 0, "ts": 400})");
  importEvents(events);
  EXPECT_EQ(rows("SELECT count(*) || '' AS concat_row FROM slice"), "7");
  EXPECT_EQ(rows("SELECT reason || '=' || count AS concat_row FROM loss ORDER BY reason"),
            "no time=1 not supported=1 unreadable=1 unreadable value=1");
  EXPECT_EQ(rows("SELECT dur_ns || '' AS concat_row FROM slice WHERE start_ns = 300000"), "0");
  EXPECT_THAT(fmt::format("{}", fmt::join(summary_.warnings, "\n")),
              AllOf(HasSubstr("types that Sonde does not know (warm-up)"),
                    HasSubstr("which has no \"step\""),
                    HasSubstr("1 durations are negative"),
                    HasSubstr("its pid or tid is not a number")));
}

TEST_F(OperationImporterTest, StepsInOtherFilesAreArguments) {
  importEvents({spanOf("user_annotation", "a", R"("ts": 1, "dur": 1)", R"({"step": "first"})")});
  EXPECT_EQ(rows("SELECT key AS concat_row FROM meta WHERE key = 'operation_level'"), "");
  EXPECT_TRUE(summary_.warnings.empty());
}

TEST_F(OperationImporterTest, SurvivesDamage) {
  std::vector<std::string> events = fourWorkers();
  for (int at = 200; at < 220; ++at)
    events.push_back(operation("forward-compute", {0, 0}, {at, 1}));
  const std::string damaged = folder_ / "damaged.json";
  const test::DamageCount count = test::importDamaged(
      fmt::format("[{}]", fmt::join(events, ", ")),
      damaged,
      1000,
      [&](store::TraceWriter& writer) -> Result<void> {
        SONDE_TRY_ASSIGN(ByteSource source, ByteSource::open(damaged));
        auto imported =
            OperationImporter(writer, folder_.path(), "host", {}).import(std::move(source));
        return imported ? Result<void>() : std::move(imported).error();
      });
  EXPECT_GT(count.whole, 300);
  EXPECT_GT(count.refused, 10);
}

TEST(OperationLayout, ReadsSizesInAnyOrder) {
  const auto layout = parseLayout("tp=2,dp=3");
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->ranks(), 6);
  EXPECT_EQ(layout->pipeline, 1);
  for (const char* const text :
       {"", "dp", "dp=", "dp=0", "dp=2,", ",dp=2", "dp=2,dp=3", "dp=2 ,pp=1", "xp=1", "dp=9999999"})
    EXPECT_FALSE(parseLayout(text)) << text;
}

}  // namespace
}  // namespace sonde::ingest
