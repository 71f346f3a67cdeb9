// TraceReader's answers about an event, a search and a span.
#include "analysis/engine/metrics/run_facts.h"
#include "gui/trace/trace_opening.h"
#include "tests/gui/reader_rig.h"
#include "tests/gui/sample_trace.h"

#include <map>

namespace sonde::gui {
namespace {

using model::SliceKind;
using testing::SampleTrace;
using testing::TraceReaderTest;

TEST_F(TraceReaderTest, SpansAndCountsWhatTheReportDoes) {
  testing::writeTraining(file("a.sonde"), 3);
  const Skeleton& skeleton = open(file("a.sonde"));
  const auto opened = openForViewing({QString::fromStdString(file("a.sonde"))});
  ASSERT_TRUE(opened);
  const auto facts = engine::metrics::readFacts(opened->database);
  ASSERT_TRUE(facts);
  EXPECT_EQ(skeleton.endNs - skeleton.beginNs, facts->wallNs);
  EXPECT_EQ(skeleton.events, facts->events);
}

TEST_F(TraceReaderTest, DetailsHoldColumnsArgumentsAndTheParents) {
  SampleTrace trace(file("a.sonde"));
  const auto thread = trace.addThread(trace.addProcess(1, 7, "p"), 1, "main");
  const auto outer = trace.addSlice({thread, SliceKind::Iteration, "iteration", 0, 1000});
  const auto inner =
      trace.addSlice({thread, SliceKind::Forward, "forward", 10, 100, 1, outer, 0, outer});
  const auto key = trace.writer().intern("batch");
  ASSERT_TRUE(
      trace.writer().add(model::Arg{model::Owner::Slice, inner.value, *key, std::int64_t{64}}));
  trace.finish();
  open(file("a.sonde"));
  const auto details = reader_.details({Table::Slice, inner.value});
  ASSERT_TRUE(details);
  EXPECT_EQ(details->event.name, "forward");
  EXPECT_EQ(details->event.block.row, 1);
  std::map<std::string, std::map<std::string, std::string>> found;
  for (const DetailsSection& section : details->sections)
    for (const auto& [name, value] : section.rows)
      found[section.title.toStdString()][name.toStdString()] = value.toStdString();
  EXPECT_EQ(found["Arguments"]["batch"], "64");
  EXPECT_EQ(found["Event"]["Process"], "rank 7, pid 1");
  EXPECT_EQ(found["Process"]["End"], "exited");
  EXPECT_TRUE(found["Inside"].contains("iteration"));
  EXPECT_EQ(found["Scope"]["how"], "own");
  EXPECT_EQ(found["Columns"]["depth"], "1");
  const auto scope = reader_.scopeOf({Table::Slice, inner.value});
  ASSERT_TRUE(scope);
  EXPECT_EQ(*scope, "iteration");
}

TEST_F(TraceReaderTest, DetailsHoldHardwareCountersSummedOrWeighted) {
  SampleTrace trace(file("a.sonde"));
  const auto process = trace.addProcess(1, 7, "p");
  const auto thread = trace.addThread(process, 1, "main");
  const auto forward = trace.addSlice({thread, SliceKind::Forward, "forward", 10, 100});
  model::DeviceMetric metric;
  metric.sliceId = forward;
  metric.threadId = thread;
  metric.deviceId = trace.addDevice(0, "GPU");
  for (const auto& [durNs, sum, share] :
       {std::tuple<std::int64_t, double, double>{10, 100, 20}, {30, 200, 40}}) {
    metric.durNs = durNs;
    metric.nameId = *trace.writer().intern("sm__cycles_active.sum");
    metric.value = sum;
    ASSERT_TRUE(trace.writer().add(metric));
    metric.nameId = *trace.writer().intern("sm__warps_active.avg.pct_of_peak_sustained_active");
    metric.value = share;
    ASSERT_TRUE(trace.writer().add(metric));
  }
  trace.finish();
  open(file("a.sonde"));
  const auto details = reader_.details({Table::Slice, forward.value});
  ASSERT_TRUE(details);
  std::map<std::string, std::string> counters;
  for (const DetailsSection& section : details->sections)
    if (section.title == QLatin1String("Hardware counters"))
      for (const auto& [name, value] : section.rows)
        counters[name.toStdString()] = value.toStdString();
  EXPECT_EQ(counters["sm__cycles_active.sum"], "300");
  EXPECT_EQ(counters["sm__warps_active.avg.pct_of_peak_sustained_active"], "35");
}

TEST_F(TraceReaderTest, StepsAlongARowAlsoOverSlicesOfNoLength) {
  SampleTrace trace(file("a.sonde"));
  const auto thread = trace.addThread(trace.addProcess(1, {}, "p"), 1, "main");
  const auto first = trace.addSlice({thread, SliceKind::Mark, "a", 100, 0});
  const auto second = trace.addSlice({thread, SliceKind::Mark, "b", 100, 0});
  const auto third = trace.addSlice({thread, SliceKind::Mark, "c", 200, 0});
  trace.addSlice({thread, SliceKind::Operation, "below", 150, 10, 1});
  trace.finish();
  open(file("a.sonde"));
  const auto step = [&](model::SliceId from, int direction) -> std::int64_t {
    const auto next = reader_.neighbour({Table::Slice, from.value}, direction);
    EXPECT_TRUE(next);
    return *next ? (*next)->id : -1;
  };
  EXPECT_EQ(step(first, 1), second.value);
  EXPECT_EQ(step(second, 1), third.value);
  EXPECT_EQ(step(third, 1), -1);
  EXPECT_EQ(step(third, -1), second.value);
  EXPECT_EQ(step(second, -1), first.value);
}

TEST_F(TraceReaderTest, SearchGoesThroughAllHitsInTimeAndRoundAgain) {
  SampleTrace trace(file("a.sonde"));
  const auto process = trace.addProcess(1, {}, "p");
  const auto a = trace.addThread(process, 1, "a");
  const auto b = trace.addThread(process, 2, "b");
  const auto late = trace.addSlice({a, SliceKind::Operation, "My Loss", 300, 10});
  trace.addSlice({a, SliceKind::Operation, "other", 350, 10});
  const auto early = trace.addSlice({b, SliceKind::Operation, "loss.backward", 100, 10});
  trace.finish();
  open(file("a.sonde"));
  const auto search = [&](std::int64_t from, std::int64_t id, bool forward) {
    const auto reply = reader_.search({"LOSS", from, {Table::Slice, id}, forward}, never_);
    EXPECT_TRUE(reply && reply->found);
    EXPECT_EQ(reply->hits, 2);
    return reply->found->ref.id;
  };
  EXPECT_EQ(search(0, 0, true), early.value);
  EXPECT_EQ(search(100, early.value, true), late.value);
  EXPECT_EQ(search(300, late.value, true), early.value);
  EXPECT_EQ(search(300, late.value, false), early.value);
  EXPECT_EQ(search(100, early.value, false), late.value);
  const auto nothing = reader_.search({"no such", 0, {}, true}, never_);
  ASSERT_TRUE(nothing);
  EXPECT_FALSE(nothing->found);
}

TEST_F(TraceReaderTest, SearchFindsArguments) {
  SampleTrace trace(file("a.sonde"));
  const auto thread = trace.addThread(trace.addProcess(1, {}, "p"), 1, "main");
  const auto small = trace.addSlice({thread, SliceKind::Operation, "load", 100, 10});
  const auto large = trace.addSlice({thread, SliceKind::Operation, "load", 200, 10});
  const auto key = trace.writer().intern("Batch size");
  for (const auto& [slice, size] : {std::pair(small, 64), std::pair(large, 512)})
    ASSERT_TRUE(
        trace.writer().add(model::Arg{model::Owner::Slice, slice.value, *key, std::int64_t{size}}));
  trace.finish();
  open(file("a.sonde"));
  const auto hits = [&](const char* text) {
    const auto reply = reader_.search({QLatin1String(text), 0, {}, true}, never_);
    EXPECT_TRUE(reply);
    return std::pair(reply->hits, reply->found ? reply->found->ref.id : 0);
  };
  EXPECT_EQ(hits("batch=512"), std::pair(std::int64_t{1}, large.value));
  EXPECT_EQ(hits("batch="), std::pair(std::int64_t{2}, small.value));
  EXPECT_EQ(hits("=64"), std::pair(std::int64_t{1}, small.value));
  EXPECT_EQ(hits("shape=512").first, 0);
}

TEST_F(TraceReaderTest, SpanTotalsAreClippedToTheSpan) {
  SampleTrace trace(file("a.sonde"));
  const auto thread = trace.addThread(trace.addProcess(1, {}, "p"), 1, "main");
  trace.addSlice({thread, SliceKind::Forward, "forward", 0, 100});
  trace.addSlice({thread, SliceKind::Forward, "forward", 200, 100});
  trace.addSlice({thread, SliceKind::Backward, "backward", 300, 100});
  trace.finish();
  open(file("a.sonde"));
  const auto rows = reader_.span({50, 310, 0, {0}}, never_);
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ((*rows)[0].name, "forward");
  EXPECT_EQ((*rows)[0].count, 2);
  EXPECT_EQ((*rows)[0].totalNs, 150);
  EXPECT_EQ((*rows)[1].totalNs, 10);
}

TEST_F(TraceReaderTest, OverviewSaysWhatTookTheTime) {
  SampleTrace trace(file("a.sonde"));
  const auto thread = trace.addThread(trace.addProcess(1, {}, "p"), 1, "main");
  trace.addSlice({thread, SliceKind::Forward, "forward", 1'000'000'000, 1'000'000'000});
  trace.addSlice({thread, SliceKind::Backward, "backward", 2'500'000'000, 500'000'000});
  trace.finish();
  open(file("a.sonde"));
  const auto rows = reader_.overview(4, never_);
  ASSERT_TRUE(rows);
  const auto& bins = rows->at(0).bins;
  ASSERT_EQ(bins.size(), 4U);
  EXPECT_EQ(bins[0].kind, Kind::Forward);
  EXPECT_EQ(bins[0].name, "forward");
  EXPECT_FLOAT_EQ(bins[0].busy, 1.0F);
  EXPECT_FLOAT_EQ(bins[2].busy, 0.0F);
  EXPECT_EQ(bins[3].kind, Kind::Backward);
}

}  // namespace
}  // namespace sonde::gui
