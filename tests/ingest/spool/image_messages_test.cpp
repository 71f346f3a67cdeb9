// Rows from records of MPI messages.
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

constexpr const char* kTransfers =
    "SELECT x.direction, x.tag, x.offset, x.bytes, x.exact, x.any_source, x.start_ns, x.dur_ns, "
    "x.slice_id FROM transfer x ORDER BY x.id";
constexpr const char* kSlices =
    "SELECT s.id, s.kind, s.category, n.text, s.start_ns, s.dur_ns FROM slice s JOIN string n ON "
    "n.id = s.name_id ORDER BY s.id";

wire::Message message(std::uint32_t channel, std::uint8_t flags, std::uint32_t name) {
  wire::Message record{};
  record.header.subject = channel;
  record.header.detail = flags;
  record.beginTicks = 100;
  record.endTicks = 150;
  record.bytes = 8;
  record.ordinal = 3;
  record.tag = 7;
  record.name = name;
  return record;
}

TEST(Messages, OfACallHaveItsSlice) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  const std::uint32_t channel = spool.channel(wire::ChannelKind::Mpi, "mpi:k/0/1", "mpi:k/1/0");
  spool.add(0, RecordKind::Message, message(channel, 0, spool.string("MPI_Sendrecv")));
  spool.add(0,
            RecordKind::Message,
            message(channel, wire::Message::kReceive | wire::Message::kAnySource, 0));
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows(kSlices), ElementsAre("1|api|mpi|MPI_Sendrecv|100|50"));
  EXPECT_THAT(rig.rows(kTransfers),
              ElementsAre("send|7|3|8|1|0|100|50|1", "receive|7|3|8|1|1|100|50|-"));
}

TEST(Messages, ThatMayBeOffSaySo) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  const std::uint32_t channel = spool.channel(wire::ChannelKind::Mpi, "mpi:k/0/1", "mpi:k/1/0");
  spool.add(0, RecordKind::Message, message(channel, wire::Message::kInexact, 0));
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows("SELECT exact FROM transfer"), ElementsAre("0"));
}

TEST(Messages, OfNoChannelAreDamage) {
  SpoolBuilder spool;
  spool.thread(0, 11);
  spool.add(0, RecordKind::Message, message(99, 0, 0));
  IngestRig rig;
  rig.ingest(spool);
  EXPECT_THAT(rig.rows(kTransfers), IsEmpty());
  EXPECT_EQ(rig.counts().damaged, 1U);
}

}  // namespace
}  // namespace sonde::ingest
