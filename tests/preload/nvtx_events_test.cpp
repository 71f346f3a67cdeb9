// NVTX's events when there is hardly any room: an event's details belong to it, or are lost with
// it.
#include "collector/preload/nvtx/nvtx_events.h"

#include "collector/core/attach.h"
#include "collector/core/emit.h"
#include "recorder/spool_file/spool_reader.h"
#include "tests/support/spool_folder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

namespace sonde::preload::nvtx {
namespace {

using recorder::SpoolReader;
using recorder::SpoolSlot;
using wire::RecordKind;

constexpr std::uint32_t kNames = 64;
constexpr int kEvents = 3'000'000;

// Reads a stream in which the event "n" must have exactly the payload n, and gives its room back.
class Reader {
 public:
  explicit Reader(SpoolReader spool) : spool_(std::move(spool)) {}

  void readFullSlots() {
    for (const SpoolSlot& slot : std::vector<SpoolSlot>(spool_.snapshot())) {
      if (!slot.full)
        continue;
      readSlot(spool_.readRecords(slot, slot.firstRecord));
      spool_.release(slot);
    }
  }
  std::uint64_t events() const { return events_; }
  std::uint64_t foreign() const { return foreign_; }
  std::uint64_t lost() const {
    const auto losses = spool_.losses();
    const auto& ofProbe = losses[static_cast<std::size_t>(wire::Probe::Nvtx)];
    return ofProbe[static_cast<std::size_t>(RecordKind::Mark)][0] +
           ofProbe[static_cast<std::size_t>(RecordKind::RangeBegin)][0];
  }

 private:
  void readSlot(std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      wire::RecordHeader header{};
      std::memcpy(&header, &bytes[at], sizeof header);
      if (header.kind == RecordKind::Mark || header.kind == RecordKind::RangeBegin) {
        name_ = header.subject;
        ++events_;
      } else if (header.kind == RecordKind::Arg) {
        wire::Arg arg{};
        std::memcpy(&arg, &bytes[at], sizeof arg);
        foreign_ += arg.bits == name_ ? 0 : 1;
        name_ = 0;
      }
      at += header.size;
    }
  }

  SpoolReader spool_;
  std::uint64_t name_ = 0;  // of the event that has no payload yet
  std::uint64_t events_ = 0;
  std::uint64_t foreign_ = 0;
};

// Marks and ranges alternate, each with the id of its name as its payload.
void emitEvents(const std::uint32_t (&names)[kNames]) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
  for (std::uint32_t at = 0; at < kEvents; ++at) {
    const std::uint32_t name = names[at % kNames];
    attributes.payload.uiValue = name;
    if (at / kNames % 2 == 0)
      mark(0, {name, wire::SliceKind::Mark}, &attributes);
    else
      start(0, 0, {name, wire::SliceKind::Range}, &attributes);
  }
}

TEST(NvtxDetails, OfALostEventAreNotAnotherOnes) {
  const test::SpoolFolder folder(1 << 20);
  ASSERT_TRUE(core::attach(folder.path().c_str(), nullptr));
  std::uint32_t names[kNames];
  for (std::uint32_t at = 0; at < kNames; ++at)
    names[at] = core::intern(std::to_string(at).c_str());
  auto spool = SpoolReader::open(folder.files().at(0), SpoolReader::Access::ReadWrite);
  ASSERT_TRUE(spool);
  Reader reader(*std::move(spool));
  std::atomic<bool> done{false};
  std::thread writer([&] {
    emitEvents(names);
    done.store(true);
  });
  // Room is given back while events are being lost.
  for (std::uint64_t lost = 0; !done.load(); lost = reader.lost()) {
    while (!done.load() && reader.lost() == lost)
      std::this_thread::yield();
    reader.readFullSlots();
  }
  writer.join();
  EXPECT_GT(reader.events(), 0U);
  EXPECT_GT(reader.lost(), 0U);
  EXPECT_EQ(reader.foreign(), 0U);
}

}  // namespace
}  // namespace sonde::preload::nvtx
