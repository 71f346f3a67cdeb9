#include "recorder/spool_file/spool_reader.h"

#include "collector/wire/iteration_keys.h"
#include "tests/support/ingest_rig.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>

namespace sonde::recorder {
namespace {

namespace fs = std::filesystem;

using test::SpoolBuilder;
using wire::SliceKind;
using wire::SlotState;

class SpoolReaderTest : public testing::Test {
 protected:
  SpoolReader open(SpoolBuilder& spool,
                   SpoolReader::Access access = SpoolReader::Access::ReadWrite) {
    auto reader = SpoolReader::open(spool.write(folder_.path()), access);
    EXPECT_TRUE(reader) << reader.error().message;
    return *std::move(reader);
  }
  ErrorCode refusal(SpoolBuilder& spool) {
    const auto reader =
        SpoolReader::open(spool.write(folder_.path()), SpoolReader::Access::ReadOnly);
    EXPECT_FALSE(reader);
    return reader ? ErrorCode::Io : reader.error().code;
  }
  test::TemporaryFolder folder_;
  std::unique_ptr<test::IngestRig> rig_;
};

TEST_F(SpoolReaderTest, ListsSlotsInTheOrderOfTheirClaims) {
  SpoolBuilder spool;
  spool.call(0, SliceKind::Api, "a", 1, 2);
  spool.call(1, SliceKind::Api, "b", 1, 2);
  spool.openSlot(0);
  // As after recycling: the later claim has the lower index.
  std::swap(spool.slot(2).thread, spool.slot(4).thread);
  spool.slot(2).seq.store(20);
  spool.header().nextSeq.store(21);
  SpoolReader reader = open(spool);
  const auto& slots = reader.snapshot();
  ASSERT_EQ(slots.size(), 3U);
  EXPECT_LT(slots[0].seq, slots[1].seq);
  EXPECT_EQ(slots[2].seq, 20U);
  EXPECT_EQ(slots[2].index, 2U);
}

TEST_F(SpoolReaderTest, LeavesLaterClaimsForTheNextTime) {
  SpoolBuilder spool;
  spool.call(0, SliceKind::Api, "a", 1, 2);
  const std::uint32_t claimed = spool.openSlot(1);
  spool.header().nextSeq.store(spool.slot(claimed).seq.load());
  SpoolReader reader = open(spool);
  EXPECT_EQ(reader.snapshot().size(), 1U);
}

TEST_F(SpoolReaderTest, GivesOnlyFullSlotsBack) {
  SpoolBuilder spool;
  spool.call(0, SliceKind::Api, "a", 1, 2);
  spool.openSlot(0);
  SpoolReader reader = open(spool);
  const std::vector<SpoolSlot> slots = reader.snapshot();
  ASSERT_EQ(slots.size(), 2U);
  for (const SpoolSlot& slot : slots)
    reader.release(slot);
  const auto& left = reader.snapshot();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_FALSE(left[0].full);
}

TEST_F(SpoolReaderTest, FollowsTheFileAsItGrows) {
  SpoolBuilder spool;
  SpoolReader reader = open(spool);
  for (std::uint32_t thread = 0; thread < 40; ++thread)
    spool.call(thread, SliceKind::Api, "a", 1, 2);
  spool.rewrite(folder_.path());
  const auto& slots = reader.snapshot();
  ASSERT_EQ(slots.size(), 40U);
  EXPECT_EQ(reader.readRecords(slots[39], 0).size(), sizeof(wire::Call));
  EXPECT_EQ(reader.allocatedBytes(), 3U << 20);  // the header, the definitions, 40 slots
}

TEST_F(SpoolReaderTest, ComesBackToDefinitionsThatWereNotCommitted) {
  SpoolBuilder spool;
  spool.string("first");
  spool.string("second");
  spool.string("third");
  const std::size_t second = std::size_t{wire::kSlotBytes} + sizeof(wire::SlotHeader) + 24;
  auto& claim = reinterpret_cast<std::uint32_t&>(spool.bytes()[second]);
  claim &= wire::DefinitionHeader::kSizeMask;
  SpoolReader reader = open(spool);
  std::vector<std::string> texts;
  const auto visit = [&](std::span<const std::byte> definition) {
    const auto* string = reinterpret_cast<const wire::StringDefinition*>(definition.data());
    texts.emplace_back(reinterpret_cast<const char*>(string + 1), string->length);
  };
  reader.newDefinitions(visit);
  EXPECT_EQ(texts, (std::vector<std::string>{"first", "third"}));
  claim |= wire::DefinitionHeader::kCommitted;
  spool.string("fourth");
  spool.rewrite(folder_.path());
  reader.newDefinitions(visit);
  EXPECT_EQ(texts, (std::vector<std::string>{"first", "third", "second", "fourth"}));
  reader.newDefinitions(visit);
  EXPECT_EQ(texts.size(), 4U);
}

TEST_F(SpoolReaderTest, RefusesWhatIsNoSpool) {
  SpoolBuilder noMagic;
  noMagic.header().magic[0] = 'X';
  EXPECT_EQ(refusal(noMagic), ErrorCode::Corrupt);
  SpoolBuilder later;
  later.header().version = wire::kSpoolVersion + 1;
  EXPECT_EQ(refusal(later), ErrorCode::Unsupported);
  SpoolBuilder otherSlots;
  otherSlots.header().slotBytes = 4096;
  EXPECT_EQ(refusal(otherSlots), ErrorCode::Corrupt);
  SpoolBuilder shortFile;
  shortFile.bytes().resize(wire::kSlotBytes - 1);
  EXPECT_EQ(refusal(shortFile), ErrorCode::Corrupt);
  EXPECT_FALSE(SpoolReader::open(folder_.path(), SpoolReader::Access::ReadOnly));
}

TEST_F(SpoolReaderTest, ReadsWhatATruncatedFileStillHas) {
  SpoolBuilder spool;
  for (std::uint32_t thread = 0; thread < 10; ++thread)
    spool.call(thread, SliceKind::Api, "a", 1, 2);
  spool.bytes().resize(5 * std::size_t{wire::kSlotBytes} + 100);
  SpoolReader reader = open(spool);
  EXPECT_EQ(reader.snapshot().size(), 3U);  // slots 2 to 4; slot 1 holds definitions
}

TEST_F(SpoolReaderTest, MarksSlotsWhoseHeadersMakeNoSense) {
  SpoolBuilder spool;
  for (std::uint32_t thread = 0; thread < 5; ++thread)
    spool.call(thread, SliceKind::Api, "a", 1, 2);
  spool.slot(2).committed.store(wire::kSlotBytes + 8);
  spool.slot(3).scopeCount = wire::kMaxOpenScopes + 1;
  spool.slot(4).firstRecord = 12;
  spool.slot(5).committed.store(spool.slot(5).committed.load() + 4);
  SpoolReader reader = open(spool);
  int damaged = 0;
  for (const SpoolSlot& slot : reader.snapshot()) {
    damaged += slot.damaged ? 1 : 0;
    EXPECT_EQ(reader.readRecords(slot, 0).empty(), slot.damaged);
    EXPECT_TRUE(reader.readScopes(slot).empty());
  }
  EXPECT_EQ(damaged, 4);
}

SpoolBuilder richSpool() {
  SpoolBuilder spool;
  spool.thread(0, 500);
  spool.threadName(0, "main");
  const auto channel = spool.channel(wire::ChannelKind::Tcp, "a:1", "b:2");
  const auto communicator = spool.communicator("g", {0, 1, 2}, 1);
  std::uint64_t ticks = 1000;
  for (int round = 0; round < 30; ++round) {
    const auto outer = spool.begin(0, SliceKind::Iteration, "step", ticks += 10);
    spool.argInt(0, outer, SONDE_ITERATION_NUMBER, round);
    const auto inner = spool.begin(0, SliceKind::Backward, "backward", ticks += 10);
    spool.call(1, SliceKind::Wait, "poll", ticks, ticks + 5);
    wire::Transfer transfer{};
    transfer.header.subject = channel;
    transfer.beginTicks = transfer.endTicks = ticks;
    spool.add(1, wire::RecordKind::Transfer, transfer);
    wire::Collective collective{};
    collective.header.detail = 1;
    collective.header.subject = communicator;
    collective.beginTicks = ticks;
    collective.endTicks = ticks + 4;
    spool.add(0, wire::RecordKind::Collective, collective);
    wire::RangeBegin range{};
    range.header.detail = static_cast<std::uint8_t>(SliceKind::Range);
    range.ticks = ticks;
    range.rangeId = static_cast<std::uint64_t>(round);
    spool.add(1, wire::RecordKind::RangeBegin, range);
    spool.end(0, round % 2 == 0 ? inner : outer, ticks += 10);
    spool.end(0, round % 2 == 0 ? outer : inner, ticks += 10);
    wire::RangeEnd end{};
    end.ticks = ticks;
    end.rangeId = static_cast<std::uint64_t>(round);
    spool.add(0, wire::RecordKind::RangeEnd, end);
    if (round % 10 == 0)
      spool.openSlot(0);
  }
  return spool;
}

// Replaces one or more bytes in significant places.
void damage(SpoolBuilder& spool, std::mt19937& random) {
  std::uniform_int_distribution<int> often(1, 12);
  std::uniform_int_distribution<int> byte(0, 255);
  std::uniform_int_distribution<std::uint32_t> slot(0, 9);
  std::uniform_int_distribution<std::uint32_t> within(0, 6000);
  const int times = often(random);
  for (int time = 0; time < times; ++time) {
    const std::uint32_t where = slot(random);
    const std::uint32_t offset = where == 0 && byte(random) < 128
                                     ? wire::kSlotTableOffset + within(random) % 64
                                     : within(random);
    static constexpr unsigned kTelling[] = {0, 0xff, 0x7f, 0x80, 1};
    const int choice = byte(random);
    const unsigned value = choice < 100 ? kTelling[choice % 5] : static_cast<unsigned>(choice);
    spool.bytes()[std::size_t{where} * wire::kSlotBytes + offset] = static_cast<std::byte>(value);
  }
  if (byte(random) < 20)
    spool.bytes().resize(static_cast<std::size_t>(byte(random)) * 4096 + within(random));
}

// SONDE_FUZZ_FILES is the number of files; ten thousand take a minute under AddressSanitizer.
TEST_F(SpoolReaderTest, SurvivesDamagedFiles) {
  const char* wanted = std::getenv("SONDE_FUZZ_FILES");
  const int files = wanted == nullptr ? 500 : std::atoi(wanted);
  const SpoolBuilder whole = richSpool();
  std::mt19937 random(20'240'611);
  int read = 0;
  for (int file = 0; file < files; ++file) {
    SpoolBuilder spool = whole;
    damage(spool, random);
    const fs::path path = folder_.path() / "damaged.spool";
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(spool.bytes().data()),
               static_cast<std::streamsize>(spool.bytes().size()));
    auto reader = SpoolReader::open(path, SpoolReader::Access::ReadWrite);
    if (!reader)
      continue;
    ++read;
    // A rig reuses its trace for a hundred files: creating one costs more than reading a file.
    if (read % 100 == 1)
      rig_ = std::make_unique<test::IngestRig>();
    rig_->ingest(*reader);
    if (HasFatalFailure())
      return;
    EXPECT_EQ(rig_->rows("SELECT 1 FROM slice WHERE dur_ns < 0").size(), 0U) << file;
  }
  EXPECT_GT(read, files / 3);
}

}  // namespace
}  // namespace sonde::recorder
