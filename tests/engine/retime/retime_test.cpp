// Writes replayed jobs as traces, and reads them again.
#include "analysis/engine/retime/retime.h"

#include "analysis/engine/replay/replay_report.h"
#include "tests/engine/replay/simulated_job.h"
#include "tests/jobsim/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace sonde::engine::retime {
namespace {

using test::must;
using test::SimulatedJob;
using ::testing::Pointwise;

MATCHER(IsWithinOneNs, "") {
  return std::abs(std::get<0>(arg) - std::get<1>(arg)) <= 1;
}

using Names = std::vector<std::string>;
Names namesIn(const store::Database& trace, const std::string& sql) {
  Names names;
  must(store::forEachRow(trace, sql, [&](const store::Statement& row) -> Result<void> {
    names.emplace_back(row.text(0));
    return {};
  }));
  return names;
}

// All rows of a table, as text.
std::multiset<std::string> rowsOf(const store::Database& trace, const std::string& table) {
  std::multiset<std::string> rows;
  must(store::forEachRow(
      trace, "SELECT * FROM " + table, [&](const store::Statement& row) -> Result<void> {
        std::string text;
        for (int column = 0; column < row.columnCount(); ++column)
          text += row.columnName(column) + "=" +
                  (row.isNull(column) ? "NULL" : std::string(row.text(column))) + " ";
        rows.insert(text);
        return {};
      }));
  return rows;
}

class Retime : public ::testing::Test {
 protected:
  // The job with these times, as a trace.
  store::Database write(const SimulatedJob& job,
                        const std::vector<std::int64_t>& beginNs,
                        const std::vector<std::int64_t>& durNs) {
    RetimeOptions options;
    options.output = folder_ / ("out" + std::to_string(written_++) + ".sonde");
    options.how = "identity";
    must(retime(job.database(), job.trace(), {beginNs, durNs}, options));
    return must(store::openTrace(options.output));
  }
  // The lengths of iterations by the rows of the trace, mean of the ranks.
  static std::vector<double> rowLengths(const store::Database& trace) {
    std::vector<double> lengths;
    must(store::forEachRow(trace,
                           "SELECT avg(dur_ns) FROM iteration GROUP BY number ORDER BY number",
                           [&](const store::Statement& row) -> Result<void> {
                             lengths.push_back(row.real(0));
                             return {};
                           }));
    return lengths;
  }

  test::TemporaryFolder folder_;
  int written_ = 0;
};

TEST_F(Retime, TheOwnTimesGiveTheSameTrace) {
  for (const jobsim::Job& job : {jobsim::dataParallelJob({}),
                                 jobsim::hostDataParallelJob({}),
                                 jobsim::loaderJob({}),
                                 jobsim::pipelineJob({}),
                                 jobsim::parameterServerJob({})}) {
    const SimulatedJob measured(job);
    const store::Database out = write(measured, measured.graph().beginNs, measured.graph().durNs);
    for (const std::string& table :
         namesIn(out,
                 "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE "
                 "'sqlite%' AND name NOT IN ('meta', 'ingested', 'ingest_state')"))
      EXPECT_EQ(rowsOf(out, table), rowsOf(measured.database(), table)) << table;
    EXPECT_EQ(must(out.queryText("SELECT value FROM meta WHERE key = 'replayed'")), "identity");
  }
}

TEST_F(Retime, OtherTimesAreThoseOfAnotherJob) {
  jobsim::DataParallel of;
  const SimulatedJob measured(jobsim::dataParallelJob(of));
  const std::vector<std::int64_t> durations = measured.scaled({"backward_gemm"}, 25);
  const store::Database out = write(
      measured, replay::replay(measured.graph(), {durations, measured.graph().gapNs}), durations);
  of.backwardNs /= 4;
  const SimulatedJob truth(jobsim::dataParallelJob(of));
  EXPECT_THAT(rowLengths(out), Pointwise(IsWithinOneNs(), truth.measured()));
  constexpr const char* kWork =
      "SELECT sum(dur_ns) FROM kernel WHERE name_id = (SELECT id FROM string WHERE text = "
      "'backward_gemm')";
  EXPECT_EQ(must(out.queryInteger(kWork)), must(truth.database().queryInteger(kWork)));
  constexpr const char* kCalls =
      "SELECT count(*) FROM slice s JOIN slice p ON p.id = s.parent_id WHERE s.start_ns < "
      "p.start_ns OR s.start_ns + s.dur_ns > p.start_ns + p.dur_ns";
  EXPECT_EQ(must(out.queryInteger(kCalls)), 0) << "slices outside of those around them";
  EXPECT_EQ(must(out.queryInteger(
                "SELECT count(*) FROM kernel k JOIN slice s ON s.id = k.launch_slice_id WHERE "
                "k.launch_delay_ns <> k.start_ns - s.start_ns")),
            0);
}

TEST_F(Retime, CollectivesEndWithTheirTransfers) {
  jobsim::DataParallel of;
  of.ranksPerMachine = of.ranks;
  const SimulatedJob measured(jobsim::dataParallelJob(of));
  const graph::Graph& graph = measured.graph();
  std::vector<std::int64_t> durations = graph.durNs;
  for (graph::NodeIndex node = 0; node < graph.nodes(); ++node)
    if (graph.kind[node] == graph::NodeKind::Transfer)
      durations[node] *= 3;
  const std::vector<std::int64_t> begin = replay::replay(graph, {durations, graph.gapNs});
  const store::Database out = write(measured, begin, durations);
  std::vector<std::int64_t> ends;
  std::vector<std::int64_t> kernelEnds;
  for (graph::NodeIndex node = 0; node < graph.nodes(); ++node)
    if (graph.kind[node] == graph::NodeKind::Transfer) {
      ends.push_back(begin[node] + durations[node]);
      kernelEnds.push_back(must(out.queryInteger(
          "SELECT start_ns + dur_ns FROM kernel WHERE id = " + std::to_string(graph.row[node]))));
    }
  EXPECT_FALSE(ends.empty());
  EXPECT_EQ(kernelEnds, ends);
}

TEST_F(Retime, TheWrittenTraceHasTheGraphOfTheReplay) {
  for (const jobsim::Job& job : {jobsim::dataParallelJob({}), jobsim::loaderJob({})}) {
    const SimulatedJob measured(job);
    const std::vector<std::int64_t> begin =
        must(replay::replayedBegins(measured.database(), measured.trace(), replay::Judge::Odd));
    const store::Database out = write(measured, begin, measured.graph().durNs);
    const graph::TraceGraph again = must(graph::readGraph(out));
    std::vector<double> read;
    for (const auto& each : replay::jobIterations(again))
      read.push_back(replay::lengthOf(each, again.graph.beginNs, again.graph.durNs));
    std::vector<double> replayed;
    for (const auto& each : replay::jobIterations(measured.trace()))
      replayed.push_back(replay::lengthOf(each, begin, measured.graph().durNs));
    EXPECT_THAT(read, Pointwise(IsWithinOneNs(), replayed));
    EXPECT_THAT(rowLengths(out), Pointwise(IsWithinOneNs(), replayed));
  }
}

TEST_F(Retime, NeverReplacesAnInput) {
  const SimulatedJob measured(jobsim::loaderJob({}));
  RetimeOptions options;
  options.output = measured.database().path();
  options.inputs = {measured.database().path()};
  options.overwrite = true;
  const auto refused = retime(measured.database(),
                              measured.trace(),
                              {measured.graph().beginNs, measured.graph().durNs},
                              options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
}

}  // namespace
}  // namespace sonde::engine::retime
