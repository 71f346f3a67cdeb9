// `sonde replay` of an operation-level trace: a pipeline of two stages.
#include "tests/cli/verbs_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using ::testing::HasSubstr;

class ReplayOfOperations : public Verbs {
 protected:
  void add(const char* type, int tid, std::int64_t begin, std::int64_t end) {
    events_.push_back(
        {{"ph", "X"},
         {"cat", type},
         {"name", type},
         {"pid", 0},
         {"tid", tid},
         {"ts", stepUs_ + begin},
         {"dur", end - begin},
         {"args", {{"step", step_}, {"model_chunk", 0}, {"mb_id", 0}, {"seq_id", 0}}}});
  }
  // Two microbatches. Each send and receive is late by `delay`; without that the second send of
  // stage 0 overlaps its receive.
  void addStep(int number, std::int64_t beginUs, std::int64_t delay) {
    step_ = number;
    stepUs_ = beginUs;
    const std::int64_t first = 10 + delay;
    const std::int64_t second = std::max<std::int64_t>(20, first + 2) + delay;
    add("forward-compute", 0, 0, 10);
    add("forward-send", 1, first, first + 2);
    add("forward-recv", 11, first, first + 2);
    add("forward-compute", 0, 10, 20);
    add("forward-compute", 10, first + 2, first + 7);
    add("backward-compute", 10, first + 7, first + 8);
    add("forward-send", 1, second, second + 2);
    add("forward-recv", 11, second, second + 2);
    const std::int64_t back = second + 2 + delay;
    add("backward-send", 11, back, back + 3);
    add("backward-recv", 1, back, back + 3);
    add("backward-compute", 0, back + 3, back + 13);
    // Rounded, so that it seems to be in the backward.
    add("gc", 0, back + 12, back + 12);
  }
  std::string write() {
    for (const int stage : {0, 1})
      for (const auto& [stream, name] : {std::pair(0, "compute"), {1, "pp-comm"}})
        events_.push_back(
            {{"ph", "M"},
             {"name", "thread_name"},
             {"pid", 0},
             {"tid", 10 * stage + stream},
             {"args", {{"name", fmt::format("PP rank {}, TP rank 0, {}", stage, name)}}}});
    const std::string file = folder_ / "job.json";
    test::writeText(file, json(events_).dump());
    const std::string trace = folder_ / "job.sonde";
    const Finished imported = sonde({"import", file, "-o", trace});
    EXPECT_EQ(imported.status, 0) << imported.err;
    return trace;
  }
  static json rowsOf(const std::string& trace, const std::string& select) {
    return jsonOf(sonde({"sql", trace, select, "--format", "json"}))["rows"];
  }
  static json report(const std::vector<std::string>& words) {
    std::vector<std::string> all = {"replay", "--format", "json"};
    all.insert(all.end(), words.begin(), words.end());
    return jsonOf(sonde(all));
  }

  std::vector<json> events_;
  int step_ = 0;
  std::int64_t stepUs_ = 0;
  std::string out_ = folder_ / "out.sonde";
};

constexpr const char* kLengths =
    "SELECT number, min(start_ns), max(start_ns + dur_ns) - min(start_ns) FROM iteration GROUP BY "
    "number ORDER BY number";

TEST_F(ReplayOfOperations, WritesTheTimelineWithoutDelays) {
  addStep(2, 0, 5);
  addStep(3, 1000, 7);
  const std::string trace = write();
  const json first = report({trace, "-o", out_});
  EXPECT_EQ(first["replayed_ns"], 31'000);
  const json again = report({out_});
  EXPECT_EQ(again["measured_ns"], 31'000);
  EXPECT_EQ(again["error"], 0);
  EXPECT_EQ(again["gap_share"], 0);
  // As much time passes between the steps as before.
  const json measured = rowsOf(trace, kLengths);
  EXPECT_EQ(rowsOf(out_, kLengths).dump(),
            json({{2, measured[0][1], 31'000},
                  {3,
                   measured[1][1].get<std::int64_t>() - measured[0][2].get<std::int64_t>() + 31'000,
                   31'000}})
                .dump());
  EXPECT_EQ(rowsOf(out_, "SELECT value FROM meta WHERE key = 'replayed'").dump(),
            R"([["no_delays"]])");
  for (const char* verb : {"report", "graph", "breakdown"})
    EXPECT_EQ(sonde({verb, out_}).status, 0) << verb;
}

// The measured times of the operation are later than those of the graph, which has no delays.
TEST_F(ReplayOfOperations, ThePathOfAnOperationHasTheTimesOfItsNode) {
  addStep(2, 0, 50);
  const std::string trace = write();
  const json graph = jsonOf(sonde(
      {"graph", trace, "--operation", "backward-compute", "--critical-path", "--format", "json"}));
  ASSERT_EQ(graph["iterations"].size(), 2U);
  EXPECT_EQ(graph["iterations"][0]["ns"], 1'000);
  EXPECT_EQ(graph["iterations"][1]["ns"], 10'000);
  ASSERT_EQ(graph["critical_path"].size(), 2U);
  for (const json& part : graph["critical_path"]) {
    EXPECT_EQ(part["cause"], "host");
    EXPECT_EQ(part["what"], "backward-compute");
  }
}

TEST_F(ReplayOfOperations, OperationsThatOverlapNowHaveLanes) {
  addStep(2, 0, 5);
  const std::string trace = write();
  ASSERT_EQ(sonde({"replay", trace, "-o", out_}).status, 0);
  const char* const lanes = "SELECT max(lane), max(depth), count(parent_id) FROM slice";
  EXPECT_EQ(rowsOf(trace, lanes).dump(), "[[0,1,1]]");
  EXPECT_EQ(rowsOf(out_, lanes).dump(), "[[1,0,0]]");
  EXPECT_EQ(rowsOf(out_,
                   "SELECT count(*) FROM slice a JOIN slice b ON a.thread_id = b.thread_id AND "
                   "a.lane = b.lane AND a.id < b.id AND a.start_ns < b.start_ns + b.dur_ns AND "
                   "b.start_ns < a.start_ns + a.dur_ns")
                .dump(),
            "[[0]]");
}

TEST_F(ReplayOfOperations, WritesTheStepsThatItJudges) {
  addStep(2, 0, 5);
  addStep(3, 1000, 7);
  addStep(4, 2000, 15);
  addStep(5, 3000, 9);
  const std::string trace = write();
  const json found = report({trace, "--judge", "odd", "-o", out_});
  EXPECT_EQ(found["iterations"], 2);
  ASSERT_EQ(found["groups"].size(), 1U);
  ASSERT_EQ(found["ranks"].size(), 2U);
  const json measured = rowsOf(trace, kLengths);
  const json written = rowsOf(out_, kLengths);
  ASSERT_EQ(written.size(), 4U);
  EXPECT_EQ(written[0][2], measured[2][2]);
  EXPECT_EQ(written[2][2], measured[0][2]);
  EXPECT_EQ(written[1][2], written[3][2]);  // both have the mean of the even ones
  EXPECT_EQ(found["replayed_ns"],
            (written[0][2].get<std::int64_t>() + written[2][2].get<std::int64_t>()) / 2);
  EXPECT_EQ(rowsOf(out_, "SELECT value FROM meta WHERE key = 'replayed'").dump(), R"([["odd"]])");
}

TEST_F(ReplayOfOperations, OfOneStepThereIsNothingToJudge) {
  addStep(2, 0, 5);
  const Finished refused = sonde({"replay", write(), "--judge", "odd", "-o", out_});
  EXPECT_EQ(refused.status, 4);
  EXPECT_THAT(refused.err, HasSubstr("the trace has 1 step"));
  EXPECT_FALSE(std::filesystem::exists(out_));
}

}  // namespace
}  // namespace sonde::cli
