#include "analysis/ingest/input/spill_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

namespace sonde::ingest {

SpillFile::SpillFile(std::filesystem::path folder) : folder_(std::move(folder)) {}

SpillFile::SpillFile(SpillFile&& other) noexcept
    : folder_(std::move(other.folder_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(std::exchange(other.size_, 0)) {}

SpillFile::~SpillFile() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

Result<void> SpillFile::create() {
  std::string name = (folder_ / ".sonde-XXXXXX").string();
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0)
    return Error{
        ErrorCode::Io,
        fmt::format(
            "cannot write to '{}': {}", folder_.string(), std::generic_category().message(errno))};
  ::unlink(name.c_str());
  return {};
}

Result<void> SpillFile::append(const void* bytes, std::size_t size) {
  if (descriptor_ < 0)
    SONDE_TRY(create());
  const char* from = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::pwrite(descriptor_, from, size, static_cast<off_t>(size_));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return Error{ErrorCode::Io,
                   fmt::format("cannot keep intermediate data in '{}': {}: make room there",
                               folder_.string(),
                               std::generic_category().message(errno))};
    from += written;
    size -= static_cast<std::size_t>(written);
    size_ += static_cast<std::uint64_t>(written);
  }
  return {};
}

Result<void> SpillFile::read(std::uint64_t offset, void* into, std::size_t size) const {
  char* to = static_cast<char*>(into);
  while (size > 0) {
    const ssize_t got = ::pread(descriptor_, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return Error{ErrorCode::Io,
                   fmt::format("cannot read intermediate data in '{}': {}",
                               folder_.string(),
                               std::generic_category().message(errno))};
    to += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace sonde::ingest
