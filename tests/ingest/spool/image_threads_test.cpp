// ImageBuilder's state of threads over the life of a process.
#include "analysis/ingest/spool/image_builder.h"
#include "analysis/store/trace_file.h"
#include "tests/support/ingest_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::ingest {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <typename Record>
std::span<const std::byte> bytesOf(Record& record, wire::RecordKind kind) {
  record.header.size = sizeof record;
  record.header.kind = kind;
  return std::as_bytes(std::span(&record, 1));
}

class ImageThreads : public testing::Test {
 protected:
  ImageThreads() {
    auto database = store::createTrace(folder_ / "trace.sonde");
    EXPECT_TRUE(database);
    auto writer = store::TraceWriter::open(*std::move(database));
    EXPECT_TRUE(writer);
    writer_ = std::make_unique<store::TraceWriter>(*std::move(writer));
    auto sink = RowSink::open(*writer_);
    EXPECT_TRUE(sink);
    sink_ = std::make_unique<RowSink>(*std::move(sink));
    EXPECT_TRUE(writer_->begin());
    process_.row.hostId = sink_->add(model::Host{.id = {}, .name = "host"});
    process_.row.startNs = 0;
  }
  std::unique_ptr<ImageBuilder> builder() {
    return std::make_unique<ImageBuilder>(*sink_, TimeBase{nullptr, 0}, "spool", process_, 0);
  }
  static void define(ImageBuilder& builder, std::uint32_t index) {
    wire::ThreadDefinition thread{};
    thread.header.kind = wire::DefinitionKind::Thread;
    thread.thread = index;
    thread.tid = static_cast<std::int32_t>(index);
    thread.startTicks = 10;
    builder.define(std::as_bytes(std::span(&thread, 1)));
    builder.definitionsDone();
  }
  static void call(ImageBuilder& builder, std::uint32_t index) {
    wire::Call call{};
    call.header.detail = static_cast<std::uint8_t>(wire::SliceKind::Api);
    call.beginTicks = 20;
    call.endTicks = 30;
    builder.addRecords(index, bytesOf(call, wire::RecordKind::Call));
  }
  static void end(ImageBuilder& builder, std::uint32_t index) {
    wire::ThreadEnd end{};
    end.ticks = 40;
    builder.addRecords(index, bytesOf(end, wire::RecordKind::ThreadEnd));
  }
  std::vector<std::string> rows(const std::string& sql) {
    return test::readRows(writer_->database(), sql);
  }
  std::vector<std::string> states() {
    return rows("SELECT length(value) FROM ingest_state WHERE kind = 'builder'");
  }

  test::TemporaryFolder folder_;
  ProcessRow process_;
  std::unique_ptr<store::TraceWriter> writer_;
  std::unique_ptr<RowSink> sink_;
};

TEST_F(ImageThreads, LosesNothingOfMoreThreadsThanOneCouldHaveAtOnce) {
  const auto image = builder();
  image->begin();
  image->save();
  const auto empty = states();
  constexpr std::uint32_t kThreads = 70'000;
  for (std::uint32_t index = 0; index < kThreads; ++index) {
    // Far apart, as a damaged file has them.
    define(*image, index * 60'000);
    call(*image, index * 60'000);
    end(*image, index * 60'000);
    if (index % 500 == 0)
      image->save();
  }
  image->save();
  EXPECT_EQ(states(), empty);
  image->finish({}, {}, {});
  ASSERT_FALSE(sink_->failed()) << sink_->failure().message;
  EXPECT_THAT(rows("SELECT count(DISTINCT thread_id) FROM slice"), ElementsAre("70000"));
  EXPECT_THAT(rows("SELECT count(*) FROM thread WHERE end_ns = 40"), ElementsAre("70000"));
  EXPECT_EQ(image->counts().records, 2U * kThreads);
  EXPECT_THAT(rows("SELECT * FROM loss"), IsEmpty());
}

TEST_F(ImageThreads, TakesUpAThreadThatHadEndedWhenMoreOfItComes) {
  const auto image = builder();
  image->begin();
  define(*image, 3);
  end(*image, 3);
  image->save();
  define(*image, 3);
  call(*image, 3);
  image->save();
  EXPECT_THAT(rows("SELECT tid, start_ns, end_ns FROM thread"), ElementsAre("3|10|40"));
  EXPECT_THAT(rows("SELECT thread_id FROM slice"), ElementsAre("1"));
}

TEST_F(ImageThreads, KnowsTheThreadsOfTheRecorderBefore) {
  {
    const auto image = builder();
    image->begin();
    for (const std::uint32_t index : {3U, 4U, 5U})
      define(*image, index);
    end(*image, 3);
    wire::ScopeBegin begin{};
    begin.header.detail = static_cast<std::uint8_t>(wire::SliceKind::Operation);
    begin.token = 7;
    begin.ticks = 15;
    image->addRecords(4, bytesOf(begin, wire::RecordKind::ScopeBegin));
    image->save();
  }
  const auto image = builder();
  const auto restored = image->restore();
  ASSERT_TRUE(restored && *restored);
  for (const std::uint32_t index : {3U, 4U, 5U}) {
    define(*image, index);
    call(*image, index);
  }
  end(*image, 4);
  image->finish({}, {}, {});
  EXPECT_THAT(rows("SELECT tid FROM thread ORDER BY id"), ElementsAre("3", "4", "5"));
  // The first one's clock had reached 40, and must not run backwards.
  EXPECT_THAT(rows("SELECT thread_id, kind, dur_ns FROM slice ORDER BY thread_id, kind"),
              ElementsAre("1|api|20", "2|api|10", "2|operation|25", "3|api|10"));
}

TEST_F(ImageThreads, AKernelIdThatComesAgainIsAnotherThreadToTheNextRecorder) {
  wire::DeviceCall deviceCall{};
  deviceCall.header.detail = static_cast<std::uint8_t>(wire::DeviceCallKind::Runtime);
  deviceCall.beginTicks = 5;
  deviceCall.endTicks = 8;
  deviceCall.tid = 3;
  {
    const auto image = builder();
    image->begin();
    define(*image, 9);
    image->addRecords(9, bytesOf(deviceCall, wire::RecordKind::DeviceCall));  // heard of by this
    define(*image, 3);
    end(*image, 3);
    image->save();
  }
  const auto image = builder();
  const auto restored = image->restore();
  ASSERT_TRUE(restored && *restored);
  wire::ThreadDefinition again{};
  again.header.kind = wire::DefinitionKind::Thread;
  again.thread = 4;
  again.tid = 3;
  again.startTicks = 50;
  image->define(std::as_bytes(std::span(&again, 1)));
  image->definitionsDone();
  deviceCall.beginTicks = 20;
  deviceCall.endTicks = 25;
  image->addRecords(9, bytesOf(deviceCall, wire::RecordKind::DeviceCall));
  image->finish({}, {}, {});
  EXPECT_THAT(rows("SELECT id, start_ns, end_ns FROM thread WHERE tid = 3 ORDER BY id"),
              ElementsAre("2|10|40", "3|50|-"));
  EXPECT_THAT(rows("SELECT thread_id FROM slice ORDER BY start_ns"), ElementsAre("2", "2"));
}

TEST_F(ImageThreads, KnowsTheIterationsOfTheRecorderBefore) {
  const auto begin = [](ImageBuilder& image, std::uint32_t token, std::uint64_t ticks) {
    wire::ScopeBegin record{};
    record.header.detail = static_cast<std::uint8_t>(wire::SliceKind::Iteration);
    record.token = token;
    record.ticks = ticks;
    record.probe = wire::Probe::Torch;
    image.addRecords(3, bytesOf(record, wire::RecordKind::ScopeBegin));
  };
  {
    const auto image = builder();
    image->begin();
    define(*image, 3);
    begin(*image, 7, 15);
    wire::ScopeEnd end{};
    end.header.subject = 7;
    end.ticks = 20;
    image->addRecords(3, bytesOf(end, wire::RecordKind::ScopeEnd));
    begin(*image, 8, 20);
    image->save();
  }
  const auto image = builder();
  const auto restored = image->restore();
  ASSERT_TRUE(restored && *restored);
  wire::Scalar scalar{};
  scalar.ticks = 25;
  image->addRecords(3, bytesOf(scalar, wire::RecordKind::Scalar));
  wire::IterationInfo info{};
  info.ticks = 25;
  info.samples = 32;
  image->addRecords(3, bytesOf(info, wire::RecordKind::IterationInfo));
  image->finish({}, {}, {});
  EXPECT_THAT(rows("SELECT iteration FROM scalar"), ElementsAre("0"));
  EXPECT_THAT(rows("SELECT number, start_ns, dur_ns, samples FROM iteration"),
              ElementsAre("0|15|5|32", "1|20|-|-"));
}

}  // namespace
}  // namespace sonde::ingest
