#include "session/trace_room.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <system_error>
#include <utility>

namespace sonde::session {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kReserve = 1 << 20;

std::uint64_t sizeOf(const fs::path& path) {
  std::error_code failure;
  const auto size = fs::file_size(path, failure);
  return failure ? 0 : size;
}

}  // namespace

TraceRoom::TraceRoom(fs::path part) : part_(std::move(part)) {
  const fs::path folder = part_.has_parent_path() ? part_.parent_path() : ".";
  reserve_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (reserve_ >= 0 && ::fallocate(reserve_, 0, 0, static_cast<off_t>(kReserve)) != 0)
    giveReserve();
}

void TraceRoom::giveReserve() noexcept {
  if (reserve_ >= 0)
    ::close(reserve_);
  reserve_ = -1;
}

std::uint64_t TraceRoom::freeBytes() const {
  std::error_code failure;
  const fs::space_info space = fs::space(part_, failure);
  return failure ? UINT64_MAX : space.available;
}

// A trace that cannot be finished is of no use. What is in the write-ahead log is written once
// more, into the trace, and finishing that takes about half as much again; the bytes of the spool
// become twice as many.
Result<void> TraceRoom::check(std::uint64_t spoolBytes) const {
  constexpr std::uint64_t kSpare = 1 << 20;
  const std::uint64_t log = sizeOf(part_.string() + "-wal");
  const std::uint64_t needed = log + (sizeOf(part_) + log) / 2 + 6 * spoolBytes + kSpare;
  const std::uint64_t left = freeBytes();
  if (left >= needed)
    return {};
  return Error{
      ErrorCode::Io,
      fmt::format("its disk has {} KiB left and finishing it takes {}", left >> 10, needed >> 10)};
}

}  // namespace sonde::session
