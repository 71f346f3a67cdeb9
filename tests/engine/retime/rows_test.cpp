// The rows of a small trace whose nodes move.
#include "analysis/engine/replay/replay.h"
#include "analysis/engine/replay/replay_report.h"
#include "analysis/engine/retime/retime.h"
#include "analysis/store/each_row.h"
#include "tests/support/device_trace.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace sonde::engine::retime {
namespace {

using ::testing::ElementsAre;

class RetimedRows : public test::DeviceTrace {
 protected:
  // A loop that launches a kernel and waits for it; the kernel begins some time after its launch.
  void addStep(const Rank& made, model::StreamId queue, std::int64_t number, std::int64_t delay) {
    const std::int64_t begin = 1000 * number;
    const std::int64_t run = begin + 110 + delay;
    step(made, number, {begin, run + 300});
    trace_->slice(made.thread, model::SliceKind::Operator, "load", {begin, begin + 100});
    const auto launch = call(made, "cudaLaunchKernel", {begin + 100, begin + 110});
    call(made, "cudaStreamSynchronize", {begin + 120, run + 200});
    trace_->slice(made.thread, model::SliceKind::Operator, "log", {run + 200, run + 300});
    model::Kernel row;
    row.work = work(queue, "gemm", {run, run + 190}, launch);
    row.work.launchDelayNs = run - begin - 100;
    row.work.queuedNs = begin + 104;
    row.work.submittedNs = begin + 106;
    const model::KernelId kernel = trace_->add(row);
    trace_->add(model::Collective{.processId = made.process,
                                  .sliceId = launch,
                                  .kernelId = kernel,
                                  .startNs = run,
                                  .durNs = 190,
                                  .waitNs = 50,
                                  .transferNs = 140});
    trace_->add(model::Scalar{.processId = made.process,
                              .nameId = trace_->name("loss"),
                              .value = 1.0,
                              .tsNs = begin + 50});
  }
  std::vector<std::int64_t> column(const store::Database& trace, const std::string& select) {
    std::vector<std::int64_t> values;
    test::must(store::forEachRow(trace, select, [&](const store::Statement& row) -> Result<void> {
      values.push_back(row.integer(0));
      return {};
    }));
    return values;
  }
  store::Database write(const store::Database& trace,
                        const graph::TraceGraph& graph,
                        const std::vector<std::int64_t>& beginNs,
                        const std::vector<std::int64_t>& durNs) {
    RetimeOptions options;
    options.output = folder_ / "out.sonde";
    test::must(retime(trace, graph, {beginNs, durNs}, options));
    return test::must(store::openTrace(options.output));
  }
};

TEST_F(RetimedRows, MoveWithTheirNodes) {
  const Rank made = rank(0);
  const auto queue = stream(made, 7);
  addStep(made, queue, 0, 40);
  const store::Database trace = open();
  const graph::TraceGraph graph = test::must(graph::readGraph(trace));
  // All that takes time takes twice as long.
  std::vector<std::int64_t> durations = graph.graph.durNs;
  for (std::int64_t& each : durations)
    each *= 2;
  const std::vector<std::int64_t> begin =
      replay::replay(graph.graph, {durations, graph.graph.gapNs});
  const store::Database out = write(trace, graph, begin, durations);
  // The lag of the launch stays; the sync ends 10 ns after the kernel, as before.
  EXPECT_THAT(column(out,
                     "SELECT dur_ns FROM slice WHERE depth = 0 AND kind <> 'iteration' ORDER "
                     "BY start_ns"),
              ElementsAre(200, 20, ::testing::Gt(400), 200));
  EXPECT_THAT(column(out, "SELECT dur_ns FROM kernel"), ElementsAre(380));
  EXPECT_THAT(column(out,
                     "SELECT k.start_ns - s.start_ns - k.launch_delay_ns FROM kernel k JOIN "
                     "slice s ON s.id = k.launch_slice_id"),
              ElementsAre(0));
  EXPECT_THAT(column(out,
                     "SELECT k.queued_ns - s.start_ns FROM kernel k JOIN slice s ON s.id = "
                     "k.launch_slice_id"),
              ElementsAre(4));
  EXPECT_THAT(column(out, "SELECT ts_ns FROM scalar"), ElementsAre(100));
  EXPECT_THAT(column(out,
                     "SELECT c.dur_ns - k.dur_ns FROM collective c JOIN kernel k ON k.id = "
                     "c.kernel_id AND k.start_ns = c.start_ns"),
              ElementsAre(0));
  EXPECT_THAT(column(out, "SELECT dur_ns - wait_ns - transfer_ns FROM collective"), ElementsAre(0));
  EXPECT_THAT(column(out,
                     "SELECT i.dur_ns - s.dur_ns FROM iteration i JOIN slice s ON s.id = "
                     "i.slice_id AND s.start_ns = i.start_ns"),
              ElementsAre(0));
}

// The second iteration begins 500 ns later, and its first work another 200 ns later.
TEST_F(RetimedRows, IterationsThatTouchedComeApart) {
  const Rank made = rank(0);
  for (const std::int64_t number : {0, 1}) {
    const Span time{100 * number, 100 * number + 100};
    const auto step = trace_->slice(made.thread, model::SliceKind::Iteration, "step", time);
    const auto work = trace_->slice(made.thread, model::SliceKind::Operator, "work", time, step);
    trace_->slice(made.thread, model::SliceKind::Mark, "done", {time.second, time.second}, work);
    trace_->add(model::Iteration{.processId = made.process,
                                 .number = number,
                                 .startNs = time.first,
                                 .durNs = 100,
                                 .sliceId = step});
  }
  const store::Database trace = open();
  const graph::TraceGraph graph = test::must(graph::readGraph(trace));
  std::vector<std::int64_t> begin = graph.graph.beginNs;
  for (graph::NodeIndex node = 0; node < graph.graph.nodes(); ++node)
    if (begin[node] >= 100)
      begin[node] += graph.graph.durNs[node] > 0 ? 700 : 500;
  const store::Database out = write(trace, graph, begin, graph.graph.durNs);
  EXPECT_THAT(column(out, "SELECT start_ns FROM iteration ORDER BY number"), ElementsAre(0, 600));
  EXPECT_THAT(column(out, "SELECT dur_ns FROM iteration ORDER BY number"), ElementsAre(600, 300));
  EXPECT_THAT(column(out, "SELECT start_ns FROM v_slice WHERE name = 'work' ORDER BY id"),
              ElementsAre(0, 800));
  EXPECT_THAT(column(out, "SELECT start_ns FROM v_slice WHERE name = 'done' ORDER BY id"),
              ElementsAre(100, 900));
}

TEST_F(RetimedRows, HaveTheGapsOfTheOtherEvenIterations) {
  const Rank made = rank(0);
  const auto queue = stream(made, 7);
  for (const std::int64_t number : {0, 1, 2, 3})
    addStep(made, queue, number, 10 * number);
  const store::Database trace = open();
  const graph::TraceGraph graph = test::must(graph::readGraph(trace));
  const store::Database out =
      write(trace,
            graph,
            test::must(replay::replayedBegins(trace, graph, replay::Judge::Odd)),
            graph.graph.durNs);
  EXPECT_THAT(column(trace, "SELECT dur_ns FROM iteration ORDER BY number"),
              ElementsAre(410, 420, 430, 440));
  EXPECT_THAT(column(out, "SELECT dur_ns FROM iteration ORDER BY number"),
              ElementsAre(430, 420, 410, 420));
}

}  // namespace
}  // namespace sonde::engine::retime
