#include "analysis/ingest/input/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace sonde::ingest {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kChunk = 256 << 10;
constexpr int kGzipWindow = 15 + 16;  // zlib's largest window, with gzip's header and trailer

std::string_view advice(int number) {
  switch (number) {
    case EACCES:
    case EPERM:
      return "check its permissions";
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return "check the name";
    default:  // the disk fails, or a server is unreachable
      return "try again, or with a copy on another disk";
  }
}

Error systemError(const fs::path& path, int number) {
  if (number == ENOENT)
    return Error{ErrorCode::NotFound,
                 fmt::format("'{}' does not exist: check the name", path.string())};
  return Error{ErrorCode::Io,
               fmt::format("cannot read '{}' ({}): {}",
                           path.string(),
                           std::generic_category().message(number),
                           advice(number))};
}

class File {
 public:
  explicit File(int descriptor) noexcept : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { ::close(descriptor_); }

  // Returns the bytes read, 0 at the end, or -1 with errno.
  ssize_t read(char* into, std::size_t size) const {
    for (;;) {
      const ssize_t got = ::read(descriptor_, into, size);
      if (got >= 0 || errno != EINTR)
        return got;
    }
  }

 private:
  int descriptor_;
};

}  // namespace

struct ByteSource::State {
  State(fs::path where, int descriptor, std::uint64_t size)
      : path(std::move(where)), file(descriptor), fileBytes(size), chunk(kChunk) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (inflating)
      inflateEnd(&stream);
  }

  Result<void> begin();
  Result<bool> refill();
  Result<std::size_t> copy(std::span<char> into);
  Result<std::size_t> inflateInto(std::span<char> into);
  Result<bool> nextMember();
  Result<bool> hasCompressed();
  Error damaged(std::string_view what) const;

  fs::path path;
  File file;
  std::uint64_t fileBytes;
  std::uint64_t taken = 0;  // bytes of the file before the rest of the chunk
  std::vector<char> chunk;
  std::size_t chunkBegin = 0;
  std::size_t chunkEnd = 0;
  bool inflating = false;
  bool memberEnded = false;  // a gzip file consists of consecutive members
  z_stream stream{};
  std::optional<Error> failure;  // the next read returns it
};

Error ByteSource::State::damaged(std::string_view what) const {
  return Error{ErrorCode::Corrupt,
               fmt::format("'{}': {} at byte {} of the compressed file: was it copied whole?",
                           path.string(),
                           what,
                           taken)};
}

// False at the end of the file.
Result<bool> ByteSource::State::refill() {
  const ssize_t got = file.read(chunk.data(), chunk.size());
  if (got < 0)
    return systemError(path, errno);
  chunkBegin = 0;
  chunkEnd = static_cast<std::size_t>(got);
  return got > 0;
}

Result<void> ByteSource::State::begin() {
  SONDE_TRY(refill());
  constexpr unsigned char kMagic[] = {0x1f, 0x8b};
  if (chunkEnd < sizeof kMagic || std::memcmp(chunk.data(), kMagic, sizeof kMagic) != 0)
    return {};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK)
    return Error{ErrorCode::Io, fmt::format("cannot inflate '{}': out of memory", path.string())};
  inflating = true;
  return {};
}

Result<std::size_t> ByteSource::State::copy(std::span<char> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    if (chunkBegin == chunkEnd) {
      SONDE_TRY_ASSIGN(const bool more, refill());
      if (!more)
        break;
    }
    const std::size_t size = std::min(chunkEnd - chunkBegin, into.size() - done);
    std::memcpy(into.data() + done, chunk.data() + chunkBegin, size);
    chunkBegin += size;
    taken += size;
    done += size;
  }
  return done;
}

// Called after a member's end; false if only zero padding or the end of the file follows.
Result<bool> ByteSource::State::nextMember() {
  for (;;) {
    while (chunkBegin < chunkEnd && chunk[chunkBegin] == '\0') {
      ++chunkBegin;
      ++taken;
    }
    if (chunkBegin < chunkEnd)
      break;
    SONDE_TRY_ASSIGN(const bool more, refill());
    if (!more)
      return false;
  }
  inflateReset(&stream);
  memberEnded = false;
  return true;
}

// False at the end of the data, or where they are cut off; `failure` is then set.
Result<bool> ByteSource::State::hasCompressed() {
  if (memberEnded) {
    SONDE_TRY_ASSIGN(const bool another, nextMember());
    if (!another)
      return false;
  }
  if (chunkBegin < chunkEnd)
    return true;
  SONDE_TRY_ASSIGN(const bool more, refill());
  if (!more)
    failure = damaged("the gzip data ends too early,");
  return more;
}

Result<std::size_t> ByteSource::State::inflateInto(std::span<char> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    SONDE_TRY_ASSIGN(const bool more, hasCompressed());
    if (!more)
      break;
    stream.next_in = reinterpret_cast<Bytef*>(chunk.data() + chunkBegin);
    stream.avail_in = static_cast<uInt>(chunkEnd - chunkBegin);
    stream.next_out = reinterpret_cast<Bytef*>(into.data() + done);
    stream.avail_out = static_cast<uInt>(std::min(into.size() - done, kChunk));
    const uInt room = stream.avail_out;
    const int status = inflate(&stream, Z_NO_FLUSH);
    const std::size_t used = chunkEnd - chunkBegin - stream.avail_in;
    chunkBegin += used;
    taken += used;
    done += room - stream.avail_out;
    if (status == Z_STREAM_END) {
      memberEnded = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      failure = damaged("the gzip data is damaged");
      break;
    }
  }
  if (done == 0 && failure)
    return *failure;
  return done;
}

Result<ByteSource> ByteSource::open(const fs::path& path) {
  // Without O_NONBLOCK, opening a pipe without a writer would block.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0)
    return systemError(path, errno);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return Error{ErrorCode::Corrupt,
                 fmt::format("'{}' is {}: give the trace file itself",
                             path.string(),
                             S_ISDIR(status.st_mode) ? "a folder" : "not a regular file")};
  }
  auto state =
      std::make_unique<State>(path, descriptor, static_cast<std::uint64_t>(status.st_size));
  SONDE_TRY(state->begin());
  return ByteSource(std::move(state));
}

ByteSource::ByteSource(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

Result<std::size_t> ByteSource::read(std::span<char> into) {
  if (state_->failure)
    return *state_->failure;
  return state_->inflating ? state_->inflateInto(into) : state_->copy(into);
}

const fs::path& ByteSource::path() const noexcept {
  return state_->path;
}
bool ByteSource::isCompressed() const noexcept {
  return state_->inflating;
}
std::uint64_t ByteSource::fileBytes() const noexcept {
  return state_->fileBytes;
}
std::uint64_t ByteSource::fileBytesRead() const noexcept {
  return state_->taken;
}

}  // namespace sonde::ingest
