#include "analysis/export/perfetto/perfetto_exporter.h"

#include "analysis/export/perfetto/debug_annotations.h"
#include "generated/perfetto_trace.pb.h"
#include "tests/export/export_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace sonde::exports {
namespace {

using perfetto::TrackEvent;

// A path of two iterations that overlap.
const std::vector<PathSpan> kPath = {
    {"load", "loader", test::kZeroNs, 100, 0, R"({"rank":3,"node":7})"},
    {"gemm", "device", test::kZeroNs + 100, 300, 0, ""},
    {"load", "loader", test::kZeroNs + 250, 50, 1, ""}};

class PerfettoExporterTest : public ::testing::Test {
 protected:
  PerfettoExporterTest() {
    test::writeViewersTrace(folder_ / "a.sonde");
    EXPECT_TRUE(trace_.ParseFromString(test::exported(
        folder_ / "a.sonde", folder_ / "a.pftrace", [](const auto& trace, OutputFile& output) {
          return exportPerfetto(trace, output, {}, kPath);
        })));
    for (const auto& packet : trace_.packet()) {
      for (const auto& name : packet.interned_data().event_names())
        names_[name.iid()] = name.name();
      if (packet.has_track_descriptor())
        tracks_[packet.track_descriptor().uuid()] = packet.track_descriptor();
    }
  }
  // "begin launch 100" for each event of the track, in the file's order.
  std::vector<std::string> eventsOf(const std::string& track) const {
    std::vector<std::string> texts;
    for (const auto& packet : trace_.packet()) {
      const TrackEvent& event = packet.track_event();
      if (!packet.has_track_event() || shown(tracks_.at(event.track_uuid())) != track)
        continue;
      const char* const type = event.type() == TrackEvent::TYPE_SLICE_BEGIN ? "begin "
                               : event.type() == TrackEvent::TYPE_SLICE_END ? "end"
                               : event.type() == TrackEvent::TYPE_INSTANT   ? "mark "
                                                                            : "value";
      const auto name = names_.find(event.name_iid());
      texts.push_back(
          type + (name == names_.end() ? "" : name->second) + " " +
          std::to_string(static_cast<std::int64_t>(packet.timestamp()) - test::kZeroNs));
    }
    return texts;
  }
  static std::string shown(const perfetto::TrackDescriptor& track) {
    return track.has_thread() ? track.thread().thread_name() : track.name();
  }

  test::TemporaryFolder folder_;
  perfetto::Trace trace_;
  std::map<std::uint64_t, std::string> names_;
  std::map<std::uint64_t, perfetto::TrackDescriptor> tracks_;
};

TEST_F(PerfettoExporterTest, NestsSpansAndLeavesOpenWhatNeverEnded) {
  EXPECT_THAT(eventsOf("main"),
              ::testing::ElementsAre("begin step 0",
                                     "begin launch 100",
                                     "begin cudaLaunchKernel 200",
                                     "end 300",
                                     "end 400",
                                     "mark here 500",
                                     "end 1000",
                                     "begin lost 1010",
                                     "end 1100",
                                     "begin cut 1200"));
}

TEST_F(PerfettoExporterTest, GivesWhatOverlapsATrackBelow) {
  EXPECT_THAT(eventsOf("main (2)"), ::testing::ElementsAre("begin overlaps 150", "end 950"));
  EXPECT_THAT(eventsOf("GPU 0 stream 7"), ::testing::ElementsAre("begin gemm 350", "end 900"));
  EXPECT_THAT(eventsOf("GPU 0 stream 7 (2)"), ::testing::ElementsAre("begin gemm 600", "end 700"));
}

TEST_F(PerfettoExporterTest, NamesTheProcessByItsRank) {
  bool found = false;
  for (const auto& [uuid, track] : tracks_) {
    if (!track.has_process() || track.process().process_name() == "critical path")
      continue;
    found = true;
    EXPECT_EQ(track.process().pid(), 10);
    EXPECT_EQ(track.process().process_name(), "python \"train\".py");
    EXPECT_THAT(track.process().process_labels(), ::testing::ElementsAre("rank 3"));
  }
  EXPECT_TRUE(found);
}

TEST_F(PerfettoExporterTest, HasTheCriticalPathInAProcessOfItsOwn) {
  EXPECT_THAT(eventsOf("critical path"),
              ::testing::ElementsAre("begin load 0", "end 100", "begin gemm 100", "end 400"));
  EXPECT_THAT(eventsOf("critical path (2)"), ::testing::ElementsAre("begin load 250", "end 300"));
  std::uint64_t owner = 0;
  for (const auto& [uuid, track] : tracks_)
    if (track.process().process_name() == "critical path")
      owner = uuid;
  ASSERT_NE(owner, 0U);
  for (const auto& [uuid, track] : tracks_) {
    EXPECT_EQ(track.parent_uuid() == owner, track.name().starts_with("critical path"));
  }
}

TEST_F(PerfettoExporterTest, HasTheSamplesOfCountersAndScalars) {
  EXPECT_THAT(eventsOf("power"), ::testing::ElementsAre("value 100", "value 200"));
  EXPECT_THAT(eventsOf("loss"), ::testing::ElementsAre("value 900"));
  for (const auto& packet : trace_.packet())
    if (packet.timestamp() == test::kZeroNs + 200 &&
        packet.track_event().type() == TrackEvent::TYPE_COUNTER) {
      EXPECT_EQ(packet.track_event().double_counter_value(), 13);
    }
}

TEST_F(PerfettoExporterTest, TiesTheKernelToItsLaunchAndShowsArguments) {
  std::map<std::uint64_t, std::string> from;
  std::map<std::uint64_t, std::string> to;
  for (const auto& packet : trace_.packet()) {
    const TrackEvent& event = packet.track_event();
    for (const std::uint64_t flow : event.flow_ids())
      from[flow] = names_[event.name_iid()];
    for (const std::uint64_t flow : event.terminating_flow_ids())
      to[flow] = names_[event.name_iid()];
    if (event.type() == TrackEvent::TYPE_SLICE_BEGIN && names_[event.name_iid()] == "launch") {
      ASSERT_EQ(event.debug_annotations_size(), 1);
      EXPECT_EQ(event.debug_annotations(0).name(), "batch");
      EXPECT_EQ(event.debug_annotations(0).int_value(), 32);
    }
  }
  ASSERT_EQ(from.size(), 1U);
  EXPECT_EQ(from.begin()->second, "cudaLaunchKernel");
  EXPECT_EQ(to, (std::map<std::uint64_t, std::string>{{from.begin()->first, "gemm"}}));
}

// A file may have arguments nested a million deep.
TEST(DebugAnnotations, CutsWhatLiesTooDeep) {
  constexpr std::size_t kDepth = 1'000'000;
  TrackEvent event;
  addAnnotations(R"({"a":1,"deep":)" + std::string(kDepth, '[') + std::string(kDepth, ']') + "}",
                 event);
  ASSERT_EQ(event.debug_annotations_size(), 2);
  EXPECT_EQ(event.debug_annotations(0).int_value(), 1);
  std::size_t depth = 0;
  for (const auto* at = &event.debug_annotations(1); at->array_values_size() > 0; ++depth)
    at = &at->array_values(0);
  EXPECT_GT(depth, 10U);
  EXPECT_LT(depth, 100U);
}

TEST(DebugAnnotations, KeepsATextThatIsNoJson) {
  TrackEvent event;
  addAnnotations(R"({"a": NaN})", event);
  ASSERT_EQ(event.debug_annotations_size(), 1);
  EXPECT_EQ(event.debug_annotations(0).name(), "args");
  EXPECT_EQ(event.debug_annotations(0).string_value(), R"({"a": NaN})");
}

}  // namespace
}  // namespace sonde::exports
