#include "analysis/export/chrome/chrome_exporter.h"

#include "analysis/finalise/finaliser.h"
#include "analysis/ingest/import_job.h"
#include "analysis/store/trace_file.h"
#include "tests/export/export_rig.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include <nlohmann/json.hpp>

namespace sonde::exports {
namespace {

using nlohmann::json;

class ChromeExporterTest : public ::testing::Test {
 protected:
  ChromeExporterTest() {
    test::writeViewersTrace(folder_ / "a.sonde");
    text_ = test::exported(
        folder_ / "a.sonde", folder_ / "a.json", [](const auto& trace, OutputFile& output) {
          return exportChrome(trace, output);
        });
    trace_ = json::parse(text_);
  }
  std::vector<json> events(const std::string& phase, const std::string& name = "") const {
    std::vector<json> found;
    for (const json& event : trace_["traceEvents"])
      if (event["ph"] == phase && (name.empty() || event["name"] == name))
        found.push_back(event);
    return found;
  }

  test::TemporaryFolder folder_;
  std::string text_;
  json trace_;
};

TEST_F(ChromeExporterTest, KeepsEachNanosecondInTheText) {
  EXPECT_EQ(trace_["baseTimeNanoseconds"], test::kZeroNs);
  EXPECT_THAT(text_, ::testing::HasSubstr(R"("name":"launch","pid":10,"tid":11,"ts":0.100)"));
  EXPECT_THAT(text_, ::testing::HasSubstr(R"("dur":0.300)"));
}

TEST_F(ChromeExporterTest, ShowsHowFastATotalGrows) {
  test::TraceBuilder trace(folder_ / "total.sonde");
  model::Counter counter;
  counter.hostId = trace.add(model::Host{});
  counter.nameId = trace.name("cpu busy");
  counter.unit = "ns";
  counter.kind = model::CounterKind::Total;
  const auto busy = trace.add(counter);
  for (const auto& [ns, value] : {std::pair(1000, 500.0), {2000, 750.0}, {4000, 2750.0}})
    trace.add(model::Sample{busy, ns, value});
  trace.finish();
  const json total = json::parse(test::exported(
      folder_ / "total.sonde", folder_ / "total.json", [](const auto& from, OutputFile& output) {
        return exportChrome(from, output);
      }));
  std::vector<double> rates;
  for (const json& event : total["traceEvents"]) {
    if (event["ph"] == "C" && event["name"] == "cpu busy")
      rates.push_back(event["args"].begin().value());
  }
  EXPECT_THAT(rates, ::testing::ElementsAre(0.25, 1.0));
}

TEST_F(ChromeExporterTest, NamesProcessesThreadsAndStreams) {
  const json process = events("M", "process_name").at(0)["args"];
  EXPECT_EQ(process["name"], "python \"train\".py");
  EXPECT_EQ(process["rank"], 3);
  EXPECT_EQ(events("M", "process_labels").at(0)["args"]["labels"], "rank 3");
  EXPECT_EQ(trace_["distributedInfo"], json({{"rank", 3}, {"world_size", 4}}));
  std::vector<std::string> names;
  for (const json& event : events("M", "thread_name"))
    names.push_back(event["args"]["name"]);
  EXPECT_THAT(names, ::testing::ElementsAre("main", "GPU 0 stream 7", "GPU 0 stream 7 (2)"));
}

TEST_F(ChromeExporterTest, ShowsWhatOverlapsBesideIt) {
  const json begin = events("b", "overlaps").at(0);
  const json end = events("e", "overlaps").at(0);
  EXPECT_EQ(begin["id"], end["id"]);
  EXPECT_EQ(end["ts"], 0.95);
  const auto kernels = events("X", "gemm");
  EXPECT_EQ(kernels.size(), 2U);
  EXPECT_NE(kernels[0]["tid"], kernels[1]["tid"]);
  EXPECT_EQ(events("B", "cut").size(), 1U);
}

TEST_F(ChromeExporterTest, EndsWhatLostItsEndWhereItHadEndedAtTheLatest) {
  const json lost = events("X", "lost").at(0);
  EXPECT_EQ(lost["dur"], 0.09);
  EXPECT_EQ(lost["args"], json({{"sonde.at_most_ns", 90}}));
}

TEST_F(ChromeExporterTest, LeadsFromTheLaunchToItsKernel) {
  const json from = events("s").at(0);
  const json to = events("f").at(0);
  EXPECT_EQ(from["id"], to["id"]);
  EXPECT_EQ(from["ts"], 0.2);
  EXPECT_EQ(to["ts"], 0.35);
  EXPECT_EQ(events("X", "gemm")[0]["args"],
            json({{"correlation", 42}, {"device", 0}, {"stream", 7}, {"grid", {8, 2, 1}}}));
}

TEST_F(ChromeExporterTest, IsImportedAgainAsItWas) {
  ingest::ImportJob job = test::must(ingest::ImportJob::create(folder_ / "b.sonde", {}));
  test::must(job.add({folder_ / "a.json"}));
  test::must(store::finalise(test::must(job.release())));
  const std::string queries[] = {
      "SELECT group_concat(x, ' ') FROM (SELECT s.kind || n.text || s.start_ns || ':' || "
      "coalesce(s.dur_ns, (SELECT value FROM v_arg WHERE owner = 'slice' AND owner_id = s.id AND "
      "key = 'sonde.at_most_ns'), 'open') || '@' || s.lane || '/' || s.depth || '^' || "
      "coalesce(p.start_ns,"
      " '') AS x FROM slice s JOIN string n ON n.id = s.name_id LEFT JOIN slice p ON p.id = "
      "s.parent_id ORDER BY s.start_ns, s.lane, s.depth)",
      "SELECT group_concat(start_ns || ':' || dur_ns || 'x' || grid_x || coalesce(launch_slice_id "
      "IS NOT NULL, '')) FROM kernel",
      "SELECT group_concat(coalesce(static_shared_bytes || '+' || dynamic_shared_bytes || '+' || "
      "local_bytes, 'none')) FROM kernel",
      "SELECT kind || name || ordinal || ':' || memory_bytes FROM device",
      "SELECT number || ':' || start_ns FROM iteration",
      "SELECT group_concat(n.text || c.unit || s.ts_ns || ':' || s.value) FROM sample s JOIN "
      "counter"
      " c ON c.id = s.counter_id JOIN string n ON n.id = c.name_id",
      "SELECT n.text || iteration || ':' || value || '@' || ts_ns FROM scalar JOIN string n ON "
      "n.id "
      "= name_id",
      "SELECT rank || '/' || world_size || command || pid FROM process",
      "SELECT name || tid FROM thread",
      "SELECT name FROM host"};
  const store::Database before = test::must(store::openTrace(folder_ / "a.sonde"));
  const store::Database after = test::must(store::openTrace(folder_ / "b.sonde"));
  for (const std::string& query : queries)
    EXPECT_EQ(test::must(after.queryText(query)), test::must(before.queryText(query))) << query;
}

// Two ranks on different hosts, whose threads wait for their device. Both waits have correlation 5;
// a third wait has one without a call.
void writeWaits(const std::string& path) {
  test::TraceBuilder trace(path);
  for (const std::int64_t rank : {0, 1}) {
    model::Process process;
    process.hostId = trace.add(model::Host{.name = rank == 0 ? "a" : "b"});
    process.pid = 10 + rank;
    process.rank = rank;
    process.worldSize = 2;
    const auto id = trace.add(process);
    trace.add(model::Stream{.processId = id, .number = 0xFFFFFFFF});
    model::Slice call;
    call.threadId = trace.add(model::Thread{.processId = id, .tid = 10 + rank});
    call.kind = model::SliceKind::Api;
    call.category = "cuda_runtime";
    call.nameId = trace.name("cudaDeviceSynchronize");
    call.startNs = 1000 * rank;
    call.durNs = 500;
    call.correlationId = 5;
    trace.add(call);
    trace.add(model::Sync{.kind = model::SyncKind::Context,
                          .startNs = 1000 * rank + 100,
                          .durNs = 300,
                          .correlationId = 5});
  }
  trace.add(model::Sync{
      .kind = model::SyncKind::Context, .startNs = 1600, .durNs = 50, .correlationId = 6});
  trace.finish();
}

class ChromeOf : public ::testing::Test {
 protected:
  json exportedFrom(const std::string& path) {
    return json::parse(
        test::exported(path, folder_ / "out.json", [](const auto& trace, OutputFile& output) {
          return exportChrome(trace, output);
        }));
  }
  test::TemporaryFolder folder_;
};

TEST_F(ChromeOf, ShowsWaitsForADeviceAtTheProcessThatCalled) {
  writeWaits(folder_ / "waits.sonde");
  std::vector<std::pair<int, double>> waits;
  std::set<std::string> names;
  const json chrome = exportedFrom(folder_ / "waits.sonde");
  for (const json& event : chrome["traceEvents"]) {
    if (event["name"] == "Context Sync")
      waits.emplace_back(event["pid"], event["ts"]);
    if (event["name"] == "thread_name")
      names.insert(event["args"]["name"]);
  }
  EXPECT_THAT(waits,
              ::testing::ElementsAre(std::pair(10, 0.1), std::pair(10, 1.6), std::pair(11, 1.1)));
  EXPECT_THAT(names, ::testing::IsSupersetOf({"GPU 0 whole device", "device synchronization"}));
}

TEST_F(ChromeOf, KeepsHostsOfOneNameApart) {
  test::TraceBuilder trace(folder_ / "two.sonde");
  for (const std::int64_t rank : {0, 1}) {
    model::Process process;
    process.hostId = trace.add(model::Host{.name = "node"});
    process.pid = 10 + rank;
    process.rank = rank;
    const auto id = trace.add(process);
    trace.add(model::Thread{.processId = id, .tid = 10});
    const auto device = trace.add(model::Device{
        .hostId = process.hostId, .kind = "gpu", .ordinal = 0, .name = rank == 0 ? "A" : "B"});
    model::Kernel kernel;
    kernel.work.streamId =
        trace.add(model::Stream{.processId = id, .deviceId = device, .number = 7});
    kernel.work.nameId = trace.name("k");
    kernel.work.durNs = 5;
    trace.add(kernel);
  }
  trace.finish();
  exportedFrom(folder_ / "two.sonde");
  ingest::ImportJob job = test::must(ingest::ImportJob::create(folder_ / "again.sonde", {}));
  test::must(job.add({folder_ / "out.json"}));
  const store::Database again = test::must(job.release());
  EXPECT_EQ(
      test::must(again.queryText("SELECT group_concat(p.rank || h.name || h.id || d.name) FROM "
                                 "process p JOIN host h ON h.id = p.host_id JOIN device d "
                                 "ON d.host_id = h.id ORDER BY p.rank")),
      "0node2A,1node3B");
}

TEST_F(ChromeOf, IsJsonWhateverAnImportedArgumentIs) {
  test::TraceBuilder trace(folder_ / "nan.sonde");
  model::Process process;
  process.hostId = trace.add(model::Host{.name = "a"});
  process.pid = 10;
  process.rank = 0;
  const auto thread =
      trace.add(model::Thread{.processId = trace.add(process), .tid = 10, .name = "main"});
  const auto step = trace.slice(thread, model::SliceKind::Operation, "step", {0, 10});
  trace.add(model::Arg{
      .ownerId = step.value, .keyId = trace.name("args"), .value = R"({"loss":NaN,"lr":0.5})"});
  trace.finish();
  const json chrome = exportedFrom(folder_ / "nan.sonde");
  EXPECT_EQ(chrome["traceEvents"].back()["args"], json({{"loss", "NaN"}, {"lr", 0.5}}));
  // It omits unknown facts, too.
  EXPECT_EQ(chrome["distributedInfo"], json({{"rank", 0}}));
  EXPECT_EQ(chrome.count("deviceProperties"), 0U);
}

TEST_F(ChromeOf, SaysWhoLetAThreadGoOn) {
  test::TraceBuilder trace(folder_ / "waits.sonde");
  model::Process process;
  process.hostId = trace.add(model::Host{.name = "a"});
  const auto id = trace.add(process);
  const auto main = trace.add(model::Thread{.processId = id, .tid = 10, .name = "main"});
  const auto other = trace.add(model::Thread{.processId = id, .tid = 11, .name = "worker"});
  trace.handoff(main, other, {100, 200});
  trace.finish();
  const json chrome = exportedFrom(folder_ / "waits.sonde");
  EXPECT_EQ(chrome["traceEvents"].back()["args"],
            json({{"waits at", "semaphore"},
                  {"waker tid", 10},
                  {"waker", "main"},
                  {"certain", 1},
                  {"wake-up ns", 10}}));
}

}  // namespace
}  // namespace sonde::exports
