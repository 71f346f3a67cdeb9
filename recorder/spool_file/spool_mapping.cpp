#include "recorder/spool_file/spool_mapping.h"

#include "recorder/launcher/descriptor_limit.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace sonde::recorder {
namespace {

using wire::kSlotBytes;

Error systemError(const std::filesystem::path& path) {
  const int error = errno;
  return {launcher::isPassing(error) ? ErrorCode::Busy : ErrorCode::Io,
          fmt::format("{}: {}", path.string(), std::generic_category().message(error))};
}

std::size_t mappableBytes(const struct stat& info) {
  return std::min<std::size_t>(static_cast<std::size_t>(info.st_size),
                               std::size_t{wire::kMaxSlots} * kSlotBytes);
}

}  // namespace

Result<SpoolMapping> SpoolMapping::open(const std::filesystem::path& path, Access access) {
  SpoolMapping mapping(path);
  SONDE_TRY(mapping.map(access));
  return mapping;
}

SpoolMapping::SpoolMapping(SpoolMapping&& other) noexcept {
  *this = std::move(other);
}

SpoolMapping& SpoolMapping::operator=(SpoolMapping&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(writable_, other.writable_);
  std::swap(base_, other.base_);
  std::swap(mappedBytes_, other.mappedBytes_);
  return *this;
}

SpoolMapping::~SpoolMapping() {
  if (base_ != nullptr)
    ::munmap(base_, mappedBytes_);
  closeFile();
}

void SpoolMapping::closeFile() noexcept {
  if (fd_ >= 0)
    ::close(std::exchange(fd_, -1));
}

Result<void> SpoolMapping::map(Access access) {
  writable_ = access == Access::ReadWrite;
  fd_ = ::open(path_.c_str(), (writable_ ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW);
  struct stat info {};
  if (fd_ < 0 || ::fstat(fd_, &info) != 0)
    return systemError(path_);
  if (!S_ISREG(info.st_mode) || info.st_size < static_cast<off_t>(kSlotBytes))
    return Error{
        ErrorCode::Corrupt,
        fmt::format(
            "{}: is not a spool file, or was cut short: it is smaller than the header of 64 KiB",
            path_.string())};
  const std::size_t bytes = mappableBytes(info);
  const int protection = writable_ ? PROT_READ | PROT_WRITE : PROT_READ;
  void* address = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd_, 0);
  if (address == MAP_FAILED)
    return systemError(path_);
  base_ = static_cast<std::byte*>(address);
  mappedBytes_ = bytes;
  return {};
}

// The file grows a chunk at a time while its process runs.
void SpoolMapping::grow() {
  struct stat info {};
  if (::fstat(fd_, &info) != 0 || info.st_size <= static_cast<off_t>(mappedBytes_))
    return;
  const std::size_t bytes = mappableBytes(info);
  void* address = ::mremap(base_, mappedBytes_, bytes, MREMAP_MAYMOVE);
  if (address == MAP_FAILED)
    return;
  base_ = static_cast<std::byte*>(address);
  mappedBytes_ = bytes;
}

std::uint32_t SpoolMapping::usableSlots() {
  const std::uint32_t count =
      std::min(header().slotCount.load(std::memory_order_acquire), wire::kMaxSlots);
  if (std::size_t{count} * kSlotBytes > mappedBytes_)
    grow();
  return std::min(count, static_cast<std::uint32_t>(mappedBytes_ / kSlotBytes));
}

bool SpoolMapping::read(std::uint32_t index,
                        std::size_t from,
                        std::size_t bytes,
                        std::byte* into) const noexcept {
  const auto offset = static_cast<off_t>(std::size_t{index} * kSlotBytes + from);
  return ::pread(fd_, into, bytes, offset) == static_cast<ssize_t>(bytes);
}

}  // namespace sonde::recorder
