// `sonde report`, `breakdown` and `diff` with traces that no recorder should write: an answer whose
// parts sum to the whole, or one line with the reason. bad_costs_test.cpp covers invalid costs.
#include "tests/cli/verbs_fixture.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace sonde::cli {
namespace {

using model::SliceKind;
using nlohmann::json;
using test::Finished;
using test::must;
using ::testing::HasSubstr;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// A process of rank 0 with a thread, a stream and a row for the cost of a scope.
struct Rig {
  explicit Rig(const std::string& path) : trace(path) {
    process = trace.add(model::Process{.hostId = trace.add(model::Host{.name = "h", .bootId = "b"}),
                                       .pid = 7,
                                       .rank = 0,
                                       .command = "train"});
    main = trace.add(model::Thread{.processId = process, .tid = 7});
    stream = trace.add(model::Stream{.processId = process, .number = 7});
    trace.add(model::Overhead{
        .probe = "torch", .api = "scope", .meanNs = 30, .errorNs = 10, .method = "micro-loop"});
  }
  model::SliceId operation(const std::string& name,
                           std::int64_t begin,
                           model::OptionalInt length,
                           const std::string& category = "torch",
                           SliceKind kind = SliceKind::Operation) {
    return trace.add(model::Slice{.threadId = main,
                                  .kind = kind,
                                  .category = category,
                                  .nameId = trace.name(name),
                                  .startNs = begin,
                                  .durNs = length});
  }
  void iteration(std::int64_t number, std::int64_t begin, model::OptionalInt length) {
    trace.add(model::Iteration{
        .processId = process, .number = number, .startNs = begin, .durNs = length});
  }
  void kernel(std::int64_t begin, std::int64_t length) {
    model::Kernel row;
    row.work.streamId = stream;
    row.work.nameId = trace.name("gemm");
    row.work.startNs = begin;
    row.work.durNs = length;
    trace.add(row);
  }

  test::TraceBuilder trace;
  model::ProcessId process;
  model::ThreadId main;
  model::StreamId stream;
};

struct BadTrace {
  const char* name;
  std::function<void(Rig&)> fill;
};

const BadTrace kBadTraces[] = {
    {"nothing", [](Rig&) {}},
    {"one event", [](Rig& rig) { rig.operation("a", 100, 50); }},
    {"one event without a length", [](Rig& rig) { rig.operation("a", 100, 0); }},
    {"one event without an end", [](Rig& rig) { rig.operation("a", 100, {}); }},
    {"siblings that overlap",
     [](Rig& rig) {
       rig.iteration(0, 0, 1000);
       rig.operation("a", 100, 400);
       rig.operation("b", 300, 400);
       rig.operation("a", 200, 50);
     }},
    {"an end before its begin",
     [](Rig& rig) {
       rig.iteration(0, 0, 1000);
       rig.iteration(1, 1000, -500);
       rig.operation("a", 500, -400);
       rig.operation("a", 600, 100);
       rig.kernel(700, -50);
     }},
    {"iterations without an end and with one number",
     [](Rig& rig) {
       rig.iteration(0, 0, {});
       rig.iteration(0, 0, 500);
       rig.iteration(0, 200, 500);
       rig.operation("a", 100, 2000);
     }},
    {"events outside of all operations and iterations",
     [](Rig& rig) {
       rig.operation("read", 5000, 100, "io", SliceKind::Io);
       rig.iteration(0, 0, 1000);
       rig.kernel(9000, 100);
     }},
    {"a kernel without its launch", [](Rig& rig) { rig.kernel(100, 400); }},
    {"ten thousand operations and categories",
     [](Rig& rig) {
       rig.iteration(0, 0, 10'000 * 20);
       for (int i = 0; i < 10'000; ++i)
         rig.operation("operation " + std::to_string(i),
                       i * 20,
                       10 + i % 7,
                       "category " + std::to_string(i),
                       i % 2 == 0 ? SliceKind::Operation : SliceKind::Io);
     }},
    {"the end of time",
     [](Rig& rig) {
       rig.iteration(0, kMax - 1000, 900);
       rig.operation("a", kMax - 500, 400);
     }},
    {"beyond the end of time",
     [](Rig& rig) {
       rig.iteration(0, 0, kMax);
       rig.operation("a", kMax - 500, 5000);
       rig.kernel(kMax - 10, kMax - 10);
     }},
    {"before the begin of time",
     [](Rig& rig) {
       rig.iteration(0, -kMax, 1000);
       rig.operation("a", -kMax, kMax);
       rig.operation("b", 0, kMax);
     }},
    {"a time that is long past",
     [](Rig& rig) {
       rig.iteration(0, -5000, 1000);
       rig.operation("a", -4800, 300);
     }},
    {"names that are no text",
     [](Rig& rig) {
       rig.iteration(0, 0, 1000);
       rig.operation("<a href=\"x\">&\xff\x01 \xe2\x82", 0, 500);
       rig.operation("", 500, 100);
     }},
};

class BadTraces : public Verbs {
 protected:
  std::string make(const BadTrace& bad) {
    const std::string path = folder_ / "bad.sonde";
    std::filesystem::remove(path);
    Rig rig(path);
    bad.fill(rig);
    rig.trace.finish();
    return path;
  }
  static void expectPartsSumUp(const json& document) {
    std::int64_t ns = 0;
    std::int64_t raw = 0;
    for (const json& row : document["rows"]) {
      ns += row["ns"].get<std::int64_t>();
      raw += row["raw_ns"].get<std::int64_t>();
      EXPECT_LE(row["low_ns"], row["ns"]);
      EXPECT_GE(row["high_ns"], row["ns"]);
    }
    EXPECT_EQ(ns, document["total_ns"]);
    EXPECT_EQ(raw, document["raw_total_ns"]);
  }
};

TEST_F(BadTraces, AreAnsweredOrRefusedByEachVerb) {
  for (const BadTrace& bad : kBadTraces) {
    SCOPED_TRACE(bad.name);
    const std::string path = make(bad);
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"report", path},
             {"report", path, "--raw", "--full"},
             {"report", path, "--format", "csv"},
             {"breakdown", path},
             {"breakdown", path, "--by", "thread,iteration"},
             {"breakdown", path, "--plot", folder_ / "plot.svg", "-f"},
             {"diff", path, path},
             {"diff", path, path, "--raw", "--by", "operation,kernel,category,rank"}})
      expectAnswerOrReason(sonde(words), words.front());
    for (const char* const scope : {"launch", "execution"}) {
      const Finished parts =
          sonde({"breakdown", path, "--format", "json", "--scope", scope, "--by", "operation"});
      expectAnswerOrReason(parts, "breakdown");
      if (parts.status == 0)
        expectPartsSumUp(json::parse(parts.out));
    }
    const Finished report = sonde({"report", path, "--format", "json"});
    expectAnswerOrReason(report, "report");
    if (report.status == 0) {
      for (const json& iteration : json::parse(report.out)["iterations"])
        EXPECT_GE(iteration["ns"], 0);
      for (const json& operation : json::parse(report.out)["operations"])
        EXPECT_GE(operation["p50_ns"], 0);
    }
  }
}

TEST_F(BadTraces, TimesThatAreNoneAreNamed) {
  for (const BadTrace& bad : kBadTraces) {
    if (std::string(bad.name).find("of time") == std::string::npos)
      continue;
    SCOPED_TRACE(bad.name);
    const std::string path = make(bad);
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"report", path}, {"report", path, "--raw"}, {"breakdown", path, "--raw"}}) {
      const Finished refused = sonde(words);
      EXPECT_EQ(refused.status, 3) << refused.err;
      EXPECT_THAT(refused.err, HasSubstr("which are not valid times"));
    }
  }
}

TEST_F(BadTraces, WithoutIterationsThereIsNothingToCompareAndTheReportSaysSo) {
  const std::string path = make(kBadTraces[1]);
  const Finished diff = sonde({"diff", path, path});
  EXPECT_EQ(diff.status, 3);
  EXPECT_THAT(diff.err, HasSubstr("has no iterations to compare"));
  EXPECT_THAT(sonde({"report", path}).out, HasSubstr("No iterations"));
}

}  // namespace
}  // namespace sonde::cli
