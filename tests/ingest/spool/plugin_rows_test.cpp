// Rows from the records of external probes.
#include "analysis/ingest/spool/image_builder.h"
#include "analysis/store/trace_file.h"
#include "tests/support/ingest_rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::ingest {
namespace {

using test::IngestRig;
using test::SpoolBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::RecordKind;

constexpr const char* kSlices =
    "SELECT s.kind, s.category, n.text, s.start_ns, s.dur_ns FROM slice s JOIN string n ON n.id = "
    "s.name_id ORDER BY s.id";
constexpr const char* kSamples =
    "SELECT n.text, c.unit, s.ts_ns, s.value FROM sample s JOIN counter c ON c.id = s.counter_id "
    "JOIN string n ON n.id = c.name_id ORDER BY s.ts_ns";

void addCall(SpoolBuilder& spool, std::uint8_t plugin) {
  wire::Call record{};
  record.header.subject = spool.string("step");
  record.header.detail = static_cast<std::uint8_t>(wire::SliceKind::Api);
  record.beginTicks = 100;
  record.endTicks = 150;
  record.probe = wire::Probe::Plugin;
  record.plugin = plugin;
  spool.add(0, RecordKind::Call, record);
}

void addValue(SpoolBuilder& spool, std::uint32_t counter, std::uint64_t ticks, double value) {
  wire::CounterValue record{};
  record.header.subject = counter;
  record.ticks = ticks;
  record.value = value;
  spool.add(0, RecordKind::CounterValue, record);
}

TEST(Plugins, SlicesAreOfTheCategoryOfTheirs) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  spool.plugin(1, "toysim", "simulator", "1.0");
  spool.plugin(2, "store", "store", "2.0");
  addCall(spool, 1);
  addCall(spool, 2);
  addCall(spool, 9);  // undefined
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(
      rig.rows(kSlices),
      ElementsAre("api|simulator|step|100|50", "api|store|step|100|50", "api|plugin|step|100|50"));
  EXPECT_THAT(rig.rows("SELECT k.text, a.value FROM arg a JOIN string k ON k.id = a.key_id WHERE "
                       "a.owner = 'process' ORDER BY a.rowid"),
              ElementsAre("sonde.plugin|toysim 1.0", "sonde.plugin|store 2.0"));
}

TEST(Plugins, ScopesThatASlotBeginsWithKeepTheirCategory) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  spool.plugin(3, "toysim", "simulator", "1.0");
  wire::OpenScope scope{};
  scope.beginTicks = 50;
  scope.name = spool.string("episode");
  scope.token = 77;
  scope.kind = wire::SliceKind::Operation;
  scope.probe = wire::Probe::Plugin;
  scope.group = 3;
  spool.openSlot(0, {scope});
  spool.end(0, 77, 90);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows(kSlices), ElementsAre("operation|simulator|episode|50|40"));
}

TEST(Plugins, CountersAreOnePerDefinition) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  spool.plugin(1, "toysim", "simulator", "1.0");
  spool.counter(1, 1, "energy", "J");
  spool.counter(1, 1, "energy", "J");  // two threads recorded it first
  spool.counter(2, 1, "worlds", "");
  addValue(spool, 1, 100, 4.5);
  addValue(spool, 2, 110, 2);
  addValue(spool, 1, 120, 4.25);
  addValue(spool, 3, 130, 1);  // undefined
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows(kSamples),
              ElementsAre("energy|J|100|4.5", "worlds||110|2.0", "energy|J|120|4.25"));
  EXPECT_THAT(rig.rows("SELECT count(*), count(process_id), count(host_id) FROM counter"),
              ElementsAre("2|2|2"));
  EXPECT_EQ(rig.counts().damaged, 1U);
}

TEST(Plugins, NotesSayWhoseTheyAre) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  spool.plugin(1, "toysim", "simulator", "1.0");
  for (const std::uint8_t plugin : {std::uint8_t{1}, std::uint8_t{0}}) {
    wire::Note record{};
    record.header.subject = spool.string("a library of an unknown version");
    record.header.detail = static_cast<std::uint8_t>(plugin + 2);
    record.ticks = 200;
    record.plugin = plugin;
    spool.add(0, RecordKind::Note, record);
  }
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT severity, source, ts_ns, text FROM note ORDER BY id"),
              ElementsAre("error|plugin toysim|200|a library of an unknown version",
                          "warning|plugin|200|a library of an unknown version"));
}

TEST(Plugins, MistakesAreLossesOfTheirs) {
  using wire::PluginCall;
  using wire::PluginMistake;
  SpoolBuilder spool;
  spool.thread(0, 11);
  spool.plugin(1, "toysim", "simulator", "1.0");
  const auto count = [&](int plugin, PluginCall call, PluginMistake mistake, std::uint32_t many) {
    spool.pluginLosses().count[plugin][static_cast<int>(call)][static_cast<int>(mistake)].store(
        many);
  };
  count(1, PluginCall::End, PluginMistake::NotOpen, 3);
  count(1, PluginCall::Intern, PluginMistake::NotActive, 1);
  count(0, PluginCall::Note, PluginMistake::TooMany, 2);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT probe, kind, count, reason FROM loss ORDER BY probe, count"),
              ElementsAre("plugin|note: too many|2|plugin",
                          "toysim|intern: not between start and stop|1|plugin toysim",
                          "toysim|end: not open on this thread|3|plugin toysim"));
}

// Two builders of one image: one of a killed recorder, and one of the next recorder.
class PluginsAfterARestart : public testing::Test {
 protected:
  PluginsAfterARestart() {
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
  // Reads all definitions, which are never recycled.
  void read(ImageBuilder& image, const std::filesystem::path& spool) {
    auto reader = recorder::SpoolReader::open(spool, recorder::SpoolReader::Access::ReadOnly);
    ASSERT_TRUE(reader);
    reader->newDefinitions([&](std::span<const std::byte> bytes) { image.define(bytes); });
    image.definitionsDone();
  }
  template <typename Record>
  static void add(ImageBuilder& image, RecordKind kind, Record record) {
    record.header.size = sizeof record;
    record.header.kind = kind;
    image.addRecords(0, std::as_bytes(std::span(&record, 1)));
  }

  test::TemporaryFolder folder_;
  ProcessRow process_;
  std::unique_ptr<store::TraceWriter> writer_;
  std::unique_ptr<RowSink> sink_;
};

TEST_F(PluginsAfterARestart, KeepTheirRows) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  spool.plugin(1, "toysim", "simulator", "1.0");
  spool.counter(1, 1, "energy", "J");
  const auto file = spool.write(folder_.path());
  wire::CounterValue value{};
  value.header.subject = 1;
  value.ticks = 100;
  value.value = 4;
  wire::ScopeBegin begin{};
  begin.header.detail = static_cast<std::uint8_t>(wire::SliceKind::Operation);
  begin.ticks = 110;
  begin.token = 7;
  begin.probe = wire::Probe::Plugin;
  begin.plugin = 1;
  {
    ImageBuilder image(*sink_, TimeBase{nullptr, 0}, "spool", process_, 0);
    image.begin();
    read(image, file);
    add(image, RecordKind::CounterValue, value);
    add(image, RecordKind::ScopeBegin, begin);
    image.save();
  }
  ImageBuilder image(*sink_, TimeBase{nullptr, 0}, "spool", process_, 0);
  const auto restored = image.restore();
  ASSERT_TRUE(restored && *restored);
  read(image, file);
  value.ticks = 120;
  add(image, RecordKind::CounterValue, value);
  wire::ScopeEnd end{};
  end.header.subject = 7;
  end.ticks = 130;
  add(image, RecordKind::ScopeEnd, end);
  image.finish({}, {}, {});
  const auto rows = [&](const char* sql) { return test::readRows(writer_->database(), sql); };
  EXPECT_THAT(rows("SELECT id FROM counter"), ElementsAre("1"));
  EXPECT_THAT(rows(kSamples), ElementsAre("energy|J|100|4.0", "energy|J|120|4.0"));
  EXPECT_THAT(rows("SELECT category, dur_ns FROM slice"), ElementsAre("simulator|20"));
  EXPECT_THAT(rows("SELECT value FROM arg WHERE owner = 'process'"), ElementsAre("toysim 1.0"));
}

}  // namespace
}  // namespace sonde::ingest
