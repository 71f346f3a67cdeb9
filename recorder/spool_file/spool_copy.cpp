// SpoolReader::copyTo: a spool file's state at one moment, while its process continues writing.
#include "recorder/spool_file/spool_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace sonde::recorder {
namespace {

using wire::kSlotBytes;
using wire::SlotState;

class File {
 public:
  explicit File(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  ~File() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool isOpen() const noexcept { return fd_ >= 0; }
  bool write(const std::byte* bytes, std::size_t count, std::uint32_t slot) const noexcept {
    const auto offset = static_cast<off_t>(std::size_t{slot} * kSlotBytes);
    const ssize_t written = ::pwrite(fd_, bytes, count, offset);
    if (written >= 0 && static_cast<std::size_t>(written) != count)
      errno = ENOSPC;
    return written == static_cast<ssize_t>(count);
  }
  // Slots at the end may be empty.
  bool grow(std::uint32_t slots) const noexcept {
    return ::ftruncate(fd_, static_cast<off_t>(std::size_t{slots} * kSlotBytes)) == 0;
  }

 private:
  int fd_;
};

Error failed(const std::filesystem::path& path, int error) {
  return {error == ENOSPC || error == EDQUOT ? ErrorCode::NoSpace : ErrorCode::Io,
          fmt::format("{}: {}", path.string(), std::generic_category().message(error))};
}

}  // namespace

// Copies the records first; the definitions that they refer to are then in the later copy.
Result<void> SpoolReader::copyTo(const std::filesystem::path& path) {
  const File file(path);
  if (!file.isOpen())
    return failed(path, errno);
  snapshot();
  const std::uint32_t count = file_.usableSlots();
  std::vector<std::byte> head(kSlotBytes);
  auto& states = *reinterpret_cast<wire::SlotTable*>(head.data() + wire::kSlotTableOffset);
  std::memcpy(head.data(), file_.slotBase(0), wire::kSlotTableOffset);
  reinterpret_cast<wire::FileHeader*>(head.data())->slotCount.store(count);
  std::vector<std::byte> buffer(kSlotBytes);
  const auto read = [&](std::uint32_t slot, std::size_t bytes) {
    return file_.read(slot, 0, bytes, buffer.data());
  };
  for (const SpoolSlot& slot : slots_) {
    if (slot.committed == 0 || slot.damaged)
      continue;
    if (!read(slot.index, slot.committed))
      return failed(file_.path(), errno == 0 ? EIO : errno);
    // It may have grown since the snapshot.
    auto& header = *reinterpret_cast<wire::SlotHeader*>(buffer.data());
    header.committed.store(slot.committed);
    if (!copyOpenCalls(slot, header.calls))
      header.calls.state.store(0);
    if (!file.write(buffer.data(), slot.committed, slot.index))
      return failed(path, errno);
    states.state[slot.index].store(slot.full ? SlotState::Full : SlotState::Writing);
  }
  for (std::uint32_t index = 1; index < count; ++index) {
    if (file_.table().state[index].load(std::memory_order_acquire) != SlotState::Definitions)
      continue;
    if (!read(index, kSlotBytes) || !file.write(buffer.data(), kSlotBytes, index))
      return failed(path, errno);
    states.state[index].store(SlotState::Definitions);
  }
  if (!file.grow(count) || !file.write(head.data(), kSlotBytes, 0))
    return failed(path, errno);
  return {};
}

std::uint32_t SpoolReader::freeSlots() {
  const std::uint32_t count = file_.usableSlots();
  std::uint32_t free = 0;
  for (std::uint32_t index = 1; index < count; ++index)
    free += file_.table().state[index].load(std::memory_order_relaxed) == SlotState::Free ? 1U : 0U;
  return free;
}

std::uint32_t SpoolReader::mostSlots() const noexcept {
  return std::min(file_.header().maxSlots, wire::kMaxSlots);
}

}  // namespace sonde::recorder
