// Device work as the window reads it.
#include "gui/models/kernel_label.h"
#include "gui/models/tracks/track_layout.h"
#include "gui/trace/trace_reader.h"
#include "tests/gui/sample_trace.h"

#include <QTemporaryDir>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace sonde::gui {
namespace {

using testing::SampleTrace;
using Type = LayoutEntry::Type;

class StreamTracksTest : public ::testing::Test {
 protected:
  // The path of the next trace.
  [[nodiscard]] std::string path() const {
    return folder_.filePath(QStringLiteral("%1.sonde").arg(opened_)).toStdString();
  }

  void open() {
    auto read = reader_.open({QString::fromStdString(path())});
    ASSERT_TRUE(read) << read.error().message;
    skeleton_ = *read;
    ++opened_;
  }
  testing::DeviceWork openWork(int nodes = 5) {
    const auto ids = testing::writeDeviceWork(path(), nodes);
    open();
    return ids;
  }
  // A process with one stream, which `add` fills.
  template <typename Add>
  void openStream(Add add) {
    SampleTrace trace(path());
    const auto process = trace.addProcess(1, 0, "p");
    add(trace, trace.addStream(process, trace.addDevice(0, "A100"), 7));
    trace.finish();
    open();
  }
  std::vector<Block> blocks(int track, std::int64_t begin, std::int64_t end, double nsPerPixel) {
    const auto reply = reader_.window({begin, end, nsPerPixel, {track}}, never_);
    EXPECT_TRUE(reply);
    return reply ? reply->tracks.at(0).blocks : std::vector<Block>();
  }
  EventDetails details(Table table, std::int64_t id) {
    auto read = reader_.details({table, id});
    EXPECT_TRUE(read) << read.error().message;
    return read ? *std::move(read) : EventDetails();
  }
  // By section and name.
  static std::map<std::string, std::map<std::string, std::string>> textsOf(
      const EventDetails& details) {
    std::map<std::string, std::map<std::string, std::string>> texts;
    for (const DetailsSection& section : details.sections)
      for (const auto& [name, value] : section.rows)
        texts[section.title.toStdString()][name.toStdString()] =
            QString(value).replace(QChar::Nbsp, u' ').toStdString();
    return texts;
  }

  QTemporaryDir folder_;
  Cancellation never_;
  TraceReader reader_;
  Skeleton skeleton_;
  int opened_ = 0;
};

TEST_F(StreamTracksTest, StreamsStandUnderTheirDeviceByUseAboveTheThreads) {
  openWork();
  std::vector<std::string> names;
  for (const TrackInfo& track : skeleton_.tracks)
    names.push_back(track.name.toStdString());
  EXPECT_EQ(names,
            (std::vector<std::string>{
                "gpu 3 · stream 7", "gpu 3 · stream 22", "gpu 3 · stream 84", "main thread"}));
  EXPECT_FALSE(skeleton_.tracks[0].communicates);
  EXPECT_TRUE(skeleton_.tracks[2].communicates);
  ASSERT_EQ(skeleton_.devices.size(), 1U);
  EXPECT_EQ(skeleton_.devices[0].model, "NVIDIA A100-SXM4-80GB");
  TrackLayout layout;
  layout.reset(skeleton_);
  std::vector<Type> types;
  for (const LayoutEntry& entry : layout.entries())
    types.push_back(entry.type);
  EXPECT_EQ(types,
            (std::vector{
                Type::Process, Type::Device, Type::Track, Type::Track, Type::Track, Type::Track}));
  EXPECT_EQ(layout.entries()[1].count, 3);
}

TEST_F(StreamTracksTest, ADeviceFoldsItsStreamsAndATrackUnfoldsIt) {
  openWork();
  TrackLayout layout;
  layout.reset(skeleton_);
  layout.toggle(skeleton_, LayoutEntry(layout.entries()[1]));
  EXPECT_EQ(layout.entries().size(), 3U);
  EXPECT_EQ(layout.find(0), nullptr);
  EXPECT_EQ(layout.findFolded(0), &layout.entries()[1]);
  EXPECT_NE(layout.find(3), nullptr);
  layout.reveal(skeleton_, 0);
  EXPECT_NE(layout.find(0), nullptr);
}

TEST_F(StreamTracksTest, EveryRankHasItsOwnDevice) {
  SampleTrace trace(path());
  for (const int rank : {0, 1}) {
    const auto process = trace.addProcess(10 + rank, rank, "train");
    const auto stream = trace.addStream(process, trace.addDevice(rank, "A100"), 7);
    trace.addKernel({stream, "gemm", 1'000, 10});
  }
  trace.finish();
  open();
  ASSERT_EQ(skeleton_.tracks.size(), 2U);
  EXPECT_EQ(skeleton_.tracks[1].name, "gpu 1 · stream 7");
  EXPECT_EQ(skeleton_.tracks[1].process, 1);
  TrackLayout layout;
  layout.reset(skeleton_);
  EXPECT_FALSE(layout.entries()[0].folded);
}

TEST_F(StreamTracksTest, ShowsKernelsCopiesSetsCollectivesAndWhatTheHostWaitedFor) {
  const auto ids = openWork(1);
  const auto main = blocks(0, skeleton_.beginNs, skeleton_.endNs + 1, 1);
  ASSERT_EQ(main.size(), 4U);
  EXPECT_EQ(refOf(main[0]), (EventRef{Table::Copy, ids.copy.value}));
  EXPECT_EQ(main[0].bytes, 1 << 20);
  EXPECT_EQ(refOf(main[1]), (EventRef{Table::Kernel, ids.kernel.value}));
  EXPECT_EQ(main[2].kind, Kind::Kernel);
  EXPECT_EQ(refOf(main[3]), (EventRef{Table::Sync, ids.wait.value}));
  EXPECT_EQ(main[3].kind, Kind::StreamSync);
  EXPECT_EQ(main[3].row, 1);  // below the work that it waits for
  EXPECT_EQ(blocks(1, skeleton_.beginNs, skeleton_.endNs, 1).at(0).kind, Kind::Set);
  EXPECT_EQ(blocks(2, skeleton_.beginNs, skeleton_.endNs, 1).at(0).kind, Kind::CollectiveKernel);
}

TEST_F(StreamTracksTest, OverlappingKernelsKeepTheirRowsWhereverTheWindowBegins) {
  openStream([](SampleTrace& trace, model::StreamId stream) {
    for (int at = 0; at < 300; ++at)  // three at a time, with a rest after every tenth
      trace.addKernel({stream, "gemm", at * 100 + at / 10 * 500, 250});
  });
  EXPECT_EQ(skeleton_.tracks[0].rows, 3);
  std::map<std::int64_t, int> rows;
  for (const Block& block : blocks(0, 0, 100'000, 1))
    rows[block.id] = block.row;
  EXPECT_EQ(rows.size(), 300U);
  for (std::int64_t begin = 0; begin < 40'000; begin += 170)
    for (const Block& block : blocks(0, begin, begin + 2'000, 1))
      ASSERT_EQ(block.row, rows[block.id]) << "window from " << begin << ", event " << block.id;
  EXPECT_EQ(details(Table::Kernel, 153).event.block.row, rows[153]);
}

TEST_F(StreamTracksTest, FarAwayReadsLevelsOfDetailOfAllRows) {
  constexpr int kKernels = 20'000;
  openStream([](SampleTrace& trace, model::StreamId stream) {
    for (int at = 0; at < kKernels; ++at)
      trace.addKernel({stream, "gemm", at * 1'000, at % 1'000 == 0 ? 1'100 : 600});
  });
  EXPECT_EQ(skeleton_.tracks[0].rows, 2);
  std::map<int, std::int64_t> events;
  const auto far = blocks(0, 0, kKernels * 1'000LL, kKernels);
  for (const Block& block : far)
    events[block.row] += block.count;
  EXPECT_LT(far.size(), 4'000U);
  EXPECT_EQ(events[0] + events[1], kKernels);
  EXPECT_EQ(events[1], 20);  // each where it is
  EXPECT_EQ(std::count_if(far.begin(), far.end(), [](const Block& b) { return b.row == 1; }), 20);
}

TEST_F(StreamTracksTest, CountsAsManyEventsAsTheReportAndNoSynchronisation) {
  openWork(5);
  // 7 slices, 7 kernels, 2 copies.
  EXPECT_EQ(skeleton_.events, 16);
}

TEST_F(StreamTracksTest, ArrowsTieACallToWhatItLaunchedAndBack) {
  const auto ids = openWork();
  const EventDetails call = details(Table::Slice, ids.kernelCall.value);
  ASSERT_EQ(call.arrows.to.size(), 1U);
  EXPECT_EQ(call.arrows.to[0].ref, (EventRef{Table::Kernel, ids.kernel.value}));
  EXPECT_EQ(call.arrows.to[0].track, 0);
  EXPECT_TRUE(call.arrows.from.empty());
  const EventDetails kernel = details(Table::Kernel, ids.kernel.value);
  ASSERT_EQ(kernel.arrows.from.size(), 1U);
  EXPECT_EQ(kernel.arrows.from[0].ref, (EventRef{Table::Slice, ids.kernelCall.value}));
  EXPECT_TRUE(kernel.arrows.to.empty());
  EXPECT_EQ(details(Table::Slice, ids.copyCall.value).arrows.to.at(0).ref,
            (EventRef{Table::Copy, ids.copy.value}));
  EXPECT_EQ(details(Table::Copy, ids.copy.value).arrows.from.at(0).ref.id, ids.copyCall.value);
  EXPECT_EQ(details(Table::Slice, ids.waitCall.value).arrows.to.at(0).ref,
            (EventRef{Table::Sync, ids.wait.value}));
  EXPECT_EQ(details(Table::Sync, ids.wait.value).arrows.from.at(0).ref.id, ids.waitCall.value);
  EXPECT_TRUE(details(Table::Slice, ids.forward.value).arrows.to.empty());
}

TEST_F(StreamTracksTest, OfManyArrowsTheFirstAreKeptAndAllCounted) {
  const auto ids = openWork(250);
  const EventDetails graph = details(Table::Slice, ids.graphCall.value);
  EXPECT_EQ(graph.arrows.toCount, 250);
  ASSERT_EQ(graph.arrows.to.size(), Arrows::kMax);
  EXPECT_EQ(graph.arrows.to.front().ref.id, ids.firstNode.value);
  const auto texts = textsOf(graph);
  ASSERT_TRUE(texts.contains("Launched, 250 in all"));
  EXPECT_EQ(texts.at("Launched, 250 in all").at("Arrows"), "only the first 100 are drawn");
}

TEST_F(StreamTracksTest, CallsOfTwoProcessesMayHaveOneCorrelation) {
  SampleTrace trace(path());
  std::vector<model::SliceId> calls;
  std::vector<model::KernelId> kernels;
  for (const int rank : {0, 1}) {
    const auto process = trace.addProcess(10 + rank, rank, "train");
    const auto thread = trace.addThread(process, 10 + rank, "main");
    const auto stream = trace.addStream(process, trace.addDevice(rank, "A100"), 7);
    SampleTrace::SliceSpec call{thread, model::SliceKind::Api, "launch", 1'000 + rank, 10};
    call.correlation = 1;
    calls.push_back(trace.addSlice(call));
    kernels.push_back(trace.addKernel({stream, "gemm", 2'000, 10, calls.back(), 1}));
    trace.addSync({stream, "", 3'000, 10, {}, 1}, model::SyncKind::Stream);
  }
  trace.finish();
  open();
  for (const std::size_t rank : {0U, 1U}) {
    const Arrows arrows = details(Table::Slice, calls[rank].value).arrows;
    ASSERT_EQ(arrows.to.size(), 2U);
    EXPECT_EQ(arrows.to[0].ref.id, kernels[rank].value);
    EXPECT_EQ(arrows.to[1].track, static_cast<int>(2 * rank));
  }
}

TEST_F(StreamTracksTest, DetailsOfAKernelSayHowItWasLaunched) {
  const auto ids = openWork();
  auto texts = textsOf(details(Table::Kernel, ids.kernel.value));
  EXPECT_EQ(texts["Event"]["Stream"], "gpu 3 · stream 7");
  EXPECT_EQ(texts["Kernel"]["grid"], "80 × 2 × 1");
  EXPECT_EQ(texts["Kernel"]["block"], "256 × 1 × 1");
  EXPECT_EQ(texts["Kernel"]["threads"], "40960");
  EXPECT_EQ(texts["Kernel"]["registers"], "32");
  EXPECT_EQ(texts["Kernel"]["static_shared_bytes"], "2 KiB  (2048)");
  EXPECT_EQ(texts["Launch"]["Call"], "cudaLaunchKernel");
  EXPECT_EQ(texts["Launch"]["Delay"], "1.000 ms after the call began, 990.0 µs after it ended");
  EXPECT_EQ(texts["Scope"]["name"], "forward");
  EXPECT_TRUE(texts["Launched inside"].contains("forward"));
  texts = textsOf(details(Table::Copy, ids.copy.value));
  EXPECT_EQ(texts["Copy"]["way"], "host to device");
  EXPECT_EQ(texts["Copy"]["bandwidth"], "10.49 GB/s");
  EXPECT_EQ(texts["Copy"]["host_memory"], "pinned");
  EXPECT_EQ(textsOf(details(Table::Sync, ids.wait.value))["Launch"]["Call"],
            "cudaStreamSynchronize");
  const auto scope = reader_.scopeOf({Table::Kernel, ids.kernel.value});
  ASSERT_TRUE(scope);
  EXPECT_EQ(*scope, "forward");
}

TEST_F(StreamTracksTest, AKernelWhoseCallWasNotRecordedSaysSo) {
  openStream([](SampleTrace& trace, model::StreamId stream) {
    trace.addKernel({stream, "gemm", 1'000, 10, {}, 5});
  });
  const EventDetails kernel = details(Table::Kernel, 1);
  EXPECT_TRUE(kernel.arrows.from.empty());
  EXPECT_EQ(textsOf(kernel)["Launch"]["Call"], "not recorded");
}

TEST_F(StreamTracksTest, ArgumentsOfAnImportAreARowEach) {
  SampleTrace trace(path());
  const auto stream = trace.addStream(trace.addProcess(1, 0, "p"), trace.addDevice(0, ""), 7);
  const auto kernel = trace.addKernel({stream, "gemm", 1'000, 10});
  const auto key = trace.writer().intern("args");
  ASSERT_TRUE(trace.writer().add(
      model::Arg{model::Owner::Kernel, kernel.value, *key, R"({"queued": 0, "grid": [1, 2, 3]})"}));
  trace.finish();
  open();
  auto texts = textsOf(details(Table::Kernel, kernel.value));
  EXPECT_EQ(texts["Arguments"]["grid"], "[1,2,3]");
  EXPECT_EQ(texts["Arguments"]["queued"], "0");
}

TEST_F(StreamTracksTest, StepsOverKernelsAndCopiesOfTheStream) {
  const auto ids = openWork();
  const auto step = [&](EventRef from, int direction) {
    const auto next = reader_.neighbour(from, direction);
    EXPECT_TRUE(next);
    return next && *next ? **next : EventRef();
  };
  const EventRef copy{Table::Copy, ids.copy.value};
  const EventRef kernel{Table::Kernel, ids.kernel.value};
  EXPECT_EQ(step(copy, 1), kernel);
  EXPECT_EQ(step(kernel, 1), (EventRef{Table::Kernel, ids.firstNode.value}));
  EXPECT_EQ(step(kernel, -1), copy);
  EXPECT_EQ(step(copy, -1), EventRef());
  EXPECT_EQ(step({Table::Sync, ids.wait.value}, -1), EventRef());
}

TEST_F(StreamTracksTest, StepsOverAllThatStartTogether) {
  openStream([](SampleTrace& trace, model::StreamId stream) {
    for (int at = 0; at < 2; ++at) {
      trace.addKernel({stream, "gemm", 1'000, 10});
      trace.addCopy({stream, "copy", 1'000, 10}, model::CopyKind::DeviceToDevice, 1);
    }
  });
  std::vector<EventRef> forward{{Table::Kernel, 1}};
  while (const auto next = *reader_.neighbour(forward.back(), 1))
    forward.push_back(*next);
  EXPECT_EQ(forward,
            (std::vector<EventRef>{
                {Table::Kernel, 1}, {Table::Kernel, 2}, {Table::Copy, 1}, {Table::Copy, 2}}));
  std::vector<EventRef> back{forward.back()};
  while (const auto next = *reader_.neighbour(back.back(), -1))
    back.push_back(*next);
  EXPECT_EQ(back, std::vector<EventRef>(forward.rbegin(), forward.rend()));
}

TEST_F(StreamTracksTest, SearchFindsKernelsAndCopiesAmongTheSlices) {
  const auto ids = openWork();
  const auto search = [&](const char* text) {
    const auto reply = reader_.search({text, 0, {}, true}, never_);
    EXPECT_TRUE(reply && reply->found) << text;
    return reply && reply->found ? std::pair(reply->found->ref, reply->hits)
                                 : std::pair(EventRef(), std::int64_t{0});
  };
  EXPECT_EQ(search("fillfunctor"),
            std::pair(EventRef(Table::Kernel, ids.kernel.value), std::int64_t{1}));
  EXPECT_EQ(search("gemm"),
            std::pair(EventRef(Table::Kernel, ids.firstNode.value), std::int64_t{5}));
  EXPECT_EQ(search("memcpy"),
            std::pair(EventRef(Table::Slice, ids.copyCall.value), std::int64_t{2}));
  const auto next =
      reader_.search({"memcpy", 1'101'000'000, {Table::Slice, ids.copyCall.value}, true}, never_);
  ASSERT_TRUE(next && next->found);
  EXPECT_EQ(next->found->ref, (EventRef{Table::Copy, ids.copy.value}));
}

TEST_F(StreamTracksTest, SpanTotalsCountKernelsByName) {
  openWork();
  // From the middle of the first kernel to the end of the second node.
  const auto rows = reader_.span({1'105'000'000, 1'110'040'000, 0, {0}}, never_);
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_TRUE((*rows)[0].name.contains("vectorized"));
  EXPECT_EQ((*rows)[0].totalNs, 2'000'000);
  EXPECT_EQ((*rows)[1].name, "gemm_kernel");
  EXPECT_EQ((*rows)[1].count, 2);
  EXPECT_EQ((*rows)[1].totalNs, 40'000);
  const auto waiting = reader_.span({1'121'000'000, 1'122'000'000, 0, {0}}, never_);
  ASSERT_TRUE(waiting);
  ASSERT_EQ(waiting->size(), 1U);
  EXPECT_EQ((*waiting)[0].name, "stream sync");
}

TEST_F(StreamTracksTest, TheOverviewShowsDevicesOnlyWhereNoThreadDidAnything) {
  openStream([](SampleTrace& trace, model::StreamId stream) {
    trace.addKernel({stream, "gemm", 1'000'000'000, 2'000'000'000});
  });
  auto rows = reader_.overview(4, never_);
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->at(0).bins.size(), 4U);
  EXPECT_EQ(rows->at(0).bins[1].kind, Kind::Kernel);
  openWork();
  rows = reader_.overview(1'000, never_);
  ASSERT_TRUE(rows);
  for (const OverviewRow::Bin& bin : rows->at(0).bins)
    EXPECT_NE(bin.kind, Kind::Kernel);
}

TEST(KernelLabel, LeavesOutResultNamespacesAndParameters) {
  const auto label = [](const char* name) {
    return kernelLabel(QString::fromUtf8(name)).toStdString();
  };
  EXPECT_EQ(label("void at::native::vectorized_elementwise_kernel<4, at::native::F<float>, "
                  "std::array<char*, 3ul> >(int, at::native::F<float>)"),
            "vectorized_elementwise_kernel<4, at::native::F<float>, std::array<char*, 3ul> >");
  EXPECT_EQ(label("void at::native::(anonymous namespace)::CatArrayBatchedCopy<int>(int*)"),
            "CatArrayBatchedCopy<int>");
  EXPECT_EQ(label("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
            "ncclDevKernel_AllGather_RING_LL");
  EXPECT_EQ(label("volta_sgemm_128x64_tn"), "volta_sgemm_128x64_tn");
  EXPECT_EQ(label("<unnamed>"), "<unnamed>");
  EXPECT_EQ(label("(odd)"), "(odd)");
  EXPECT_EQ(label(""), "");
}

}  // namespace
}  // namespace sonde::gui
