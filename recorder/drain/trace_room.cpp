#include "recorder/drain/trace_room.h"

#include "base/file_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace sonde::recorder {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kReserve = 1 << 20;

std::uint64_t logOf(const fs::path& part) {
  return fileBytes(part.string() + "-wal");
}

// A trace that cannot be finished is useless. Finishing writes the write-ahead log once more, into
// the trace. Its indexes and levels of detail add up to nine tenths of the size (annotations alone
// 0.4, the demo 0.6, CUDA and MPI 0.8). The spool's bytes double, in the log as well as in the
// trace.
std::uint64_t neededBytes(const fs::path& part, std::uint64_t spoolBytes) {
  const std::uint64_t log = logOf(part);
  return log + (fileBytes(part) + log) / 10 * 9 + 6 * spoolBytes;
}

}  // namespace

TraceRoom::TraceRoom(fs::path part, std::uint64_t limitBytes)
    : part_(std::move(part)), limit_(limitBytes == 0 ? UINT64_MAX : limitBytes) {
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

std::uint64_t TraceRoom::diskBytes() const {
  std::error_code failure;
  const fs::space_info space = fs::space(part_, failure);
  return failure ? UINT64_MAX : space.available;
}

std::uint64_t TraceRoom::limitBytes() const {
  const std::uint64_t taken = fileBytes(part_) + logOf(part_);
  return limit_ - std::min(limit_, taken);
}

std::uint64_t TraceRoom::freeBytes() const {
  return std::min(diskBytes(), limitBytes());
}

bool TraceRoom::withinLimit(std::uint64_t spoolBytes) const {
  return limitBytes() >= neededBytes(part_, spoolBytes);
}

double TraceRoom::shareLeft() const {
  if (limit_ == UINT64_MAX)
    return 1;
  const std::uint64_t finished = fileBytes(part_) + neededBytes(part_, 0);
  return static_cast<double>(limit_ - std::min(limit_, finished)) / static_cast<double>(limit_);
}

Result<void> TraceRoom::check(std::uint64_t spoolBytes) const {
  constexpr std::uint64_t kSpare = 1 << 20;
  const std::uint64_t needed = neededBytes(part_, spoolBytes) + kSpare;
  const std::uint64_t left = diskBytes();
  if (left >= needed)
    return {};
  return Error{
      ErrorCode::Io,
      fmt::format("its disk has {} KiB left, and finishing it needs {}", left >> 10, needed >> 10)};
}

}  // namespace sonde::recorder
