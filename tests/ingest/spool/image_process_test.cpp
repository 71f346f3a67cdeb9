// The facts about a process from its image: threads, channels, place in the job, losses.
#include "analysis/ingest/spool/image_builder.h"
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
using wire::SliceKind;

TEST(ImageBuilder, NamesThreadsAndEndsThem) {
  SpoolBuilder spool;
  spool.thread(0, 500, 40);
  spool.threadName(0, "loader");
  spool.begin(0, SliceKind::Operation, "open at the end", 50);
  wire::ThreadEnd end{};
  end.ticks = 90;
  spool.add(0, RecordKind::ThreadEnd, end);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT tid, name, start_ns, end_ns FROM thread"),
              ElementsAre("500|loader|40|90"));
  EXPECT_THAT(rig.rows("SELECT dur_ns FROM slice"), ElementsAre("40"));
}

TEST(ImageBuilder, AProcessWasThereAtItsLastClockSync) {
  SpoolBuilder spool;
  spool.clockSync(0, 100, 100);
  spool.clockSync(0, 600, 600);
  spool.clockSync(1, 400, 400);  // read later
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT start_ns, end_ns FROM process"), ElementsAre("0|600"));
}

TEST(ImageBuilder, StoresForksExecsAndFactsOfTheProcess) {
  SpoolBuilder spool;
  wire::Fork fork{};
  fork.header.subject = 4711;
  fork.ticks = 10;
  spool.add(0, RecordKind::Fork, fork);
  wire::Exec exec{};
  exec.header.subject = spool.string("/bin/true");
  exec.header.detail = 1;
  exec.reason = spool.string("static");
  exec.ticks = 20;
  spool.add(0, RecordKind::Exec, exec);
  wire::Arg arg{};
  arg.header.detail = wire::Arg::kOfProcess;
  arg.header.subject = spool.string("algorithm");
  arg.bits = spool.string("ppo");
  spool.add(0, RecordKind::Arg, arg);
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT owner, text, value FROM arg JOIN string ON string.id = key_id ORDER "
                       "BY arg.rowid"),
              ElementsAre("slice|child|4711",
                          "slice|path|/bin/true",
                          "slice|not followed|static",
                          "process|algorithm|ppo"));
  EXPECT_THAT(rig.rows("SELECT probe, kind, reason, count FROM loss"),
              ElementsAre("process|exec|not followed|1"));
}

TEST(ImageBuilder, TakesThePlaceInTheJobThatTheProcessTells) {
  SpoolBuilder spool;
  const auto tell = [&](std::string_view key, const char* value) {
    wire::Arg arg{};
    arg.header.detail = wire::Arg::kOfProcess;
    arg.header.subject = spool.string(std::string(key));
    arg.bits = spool.string(value);
    spool.add(0, RecordKind::Arg, arg);
  };
  tell(wire::kRankKey, "3");
  tell(wire::kWorldSizeKey, "8");
  tell(wire::kRankKey, "-1");
  tell(wire::kWorldSizeKey, "9 or more");
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT rank, world_size FROM process"), ElementsAre("3|8"));
  EXPECT_THAT(rig.rows("SELECT value FROM arg WHERE owner = 'process' ORDER BY rowid"),
              ElementsAre("-1", "9 or more"));
}

TEST(ImageBuilder, LeavesAChannelAloneWhoseAddressesAreLongerThanItsDefinition) {
  SpoolBuilder spool;
  spool.channel(wire::ChannelKind::Tcp, "10.0.0.1:1", "10.0.0.2:2");
  spool.channel(wire::ChannelKind::Tcp, "torn", "");
  const std::string_view file(reinterpret_cast<const char*>(spool.bytes().data()),
                              spool.bytes().size());
  auto* torn = reinterpret_cast<wire::ChannelDefinition*>(spool.bytes().data() + file.find("torn"));
  (torn - 1)->remoteBytes = 5;  // four would match the padding
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT local, remote FROM channel"), ElementsAre("10.0.0.1:1|10.0.0.2:2"));
  EXPECT_THAT(rig.rows("SELECT kind, reason, count FROM loss"), ElementsAre("unknown|damaged|1"));
}

TEST(ImageBuilder, StoresLossesAndCountsDamage) {
  SpoolBuilder spool;
  spool.losses().count[0][1][0].store(12);
  spool.losses().count[4][11][3].store(2);
  spool.losses().count[5][0][6].store(30);
  spool.call(0, static_cast<SliceKind>(99), "no kind", 10, 20);
  spool.end(0, 12345, 30);
  const std::uint64_t unknownKind[] = {0x0000'0000'00c8'0010, 0};
  spool.append(0, std::as_bytes(std::span(unknownKind)));
  spool.call(0, SliceKind::Api, "after it", 40, 50);
  const std::uint64_t brokenSize[] = {0x0000'0000'0003'0007};
  spool.append(0, std::as_bytes(std::span(brokenSize)));
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT probe, kind, reason, count FROM loss ORDER BY rowid"),
              ElementsAre("annotation|scope begin|spool full|12",
                          "net|transfer|definitions|2",
                          "process|name|names|30",
                          "process|unknown|damaged|3",
                          "process|unknown|unbalanced|1"));
  EXPECT_THAT(
      rig.rows("SELECT text, kind, start_ns, dur_ns FROM slice JOIN string s ON s.id = name_id"),
      ElementsAre("after it|api|40|10"));
  EXPECT_THAT(rig.rows("SELECT count(*) FROM note"), ElementsAre("1"));
}

}  // namespace
}  // namespace sonde::ingest
