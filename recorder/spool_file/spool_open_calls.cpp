// SpoolReader::openCalls: the calls that the threads of a process are in.
#include "recorder/spool_file/spool_reader.h"

#include <algorithm>
#include <cstring>

namespace sonde::recorder {
namespace {

// Copies the record according to its header; empty if the header is invalid.
std::vector<std::byte> recordAt(const unsigned char* at) {
  wire::RecordHeader header{};
  std::memcpy(&header, at, sizeof header);
  if (header.size < sizeof header || header.size > wire::OpenCalls::kRecordBytes ||
      header.size % 8 != 0 || header.kind >= wire::RecordKind::Count)
    return {};
  const auto* bytes = reinterpret_cast<const std::byte*>(at);
  return {bytes, bytes + header.size};
}

}  // namespace

// False if the thread keeps changing them: then no call is open for long.
bool SpoolReader::copyOpenCalls(const SpoolSlot& slot, wire::OpenCalls& copy) const noexcept {
  constexpr int kTries = 16;
  const wire::SlotHeader& from = file_.slotHeader(slot.index);
  for (int tries = 0; tries < kTries; ++tries) {
    const std::uint64_t before = from.calls.state.load(std::memory_order_acquire);
    if ((before & wire::OpenCalls::kVersion) != 0)
      continue;
    std::memcpy(copy.records, from.calls.records, sizeof copy.records);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (from.calls.state.load(std::memory_order_relaxed) != before)
      continue;
    copy.state.store(before, std::memory_order_relaxed);
    return from.seq.load(std::memory_order_relaxed) == slot.seq;
  }
  return false;
}

// A thread that was killed between two slots may have none in state Writing. While it moves on, it
// may have two; the later one counts.
std::vector<SpoolReader::OpenCalls> SpoolReader::openCalls() const {
  std::vector<OpenCalls> threads;
  for (const SpoolSlot& slot : slots_) {
    if (slot.full || slot.damaged || slot.committed == 0 || !file_.has(slot.index) ||
        (slot.thread & wire::SlotHeader::kSamples) != 0)
      continue;
    std::erase_if(threads, [&](const OpenCalls& other) { return other.thread == slot.thread; });
    wire::OpenCalls copy{};
    if (!copyOpenCalls(slot, copy))
      continue;
    const std::uint64_t depth =
        copy.state.load(std::memory_order_relaxed) & wire::OpenCalls::kDepthMask;
    OpenCalls open{slot.thread, {}};
    for (std::uint64_t at = 0; at < std::min<std::uint64_t>(depth, wire::OpenCalls::kMost); ++at) {
      if (auto record = recordAt(copy.records[at]); !record.empty())
        open.records.push_back(std::move(record));
    }
    if (!open.records.empty())
      threads.push_back(std::move(open));
  }
  return threads;
}

}  // namespace sonde::recorder
