#include "recorder/system/kernel_file.h"

#include "recorder/launcher/descriptor_limit.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>
#include <vector>

namespace sonde::recorder::system {
namespace {

constexpr std::size_t kFirstBytes = 16384;
constexpr std::size_t kPage = 4096;
constexpr ssize_t kFullPage = kPage - 512;   // the next line may not have fitted
constexpr std::size_t kMostBytes = 4 << 20;  // /proc/stat of the largest machines is half of that

std::atomic<std::size_t> gMostKept{512};
std::atomic<std::size_t> gKept{0};

void giveBack(int descriptor) noexcept {
  ::close(descriptor);
  gKept.fetch_sub(1);
}

// The kernel returns many of these files one page at a time, in whole lines, whatever size is
// requested. A read shorter than such a page is the last one: another read would make the kernel
// generate the whole file again.
std::string_view readAll(int descriptor) {
  thread_local std::vector<char> buffer(kFirstBytes);
  std::size_t got = 0;
  while (got < kMostBytes) {
    if (buffer.size() - got < kPage)  // otherwise a read could be short for lack of room
      buffer.resize(buffer.size() * 2);
    const ssize_t bytes =
        ::pread(descriptor, buffer.data() + got, buffer.size() - got, static_cast<off_t>(got));
    if (bytes < 0)
      return {};
    got += static_cast<std::size_t>(bytes);
    if (bytes < kFullPage)
      break;
  }
  return {buffer.data(), got};
}

}  // namespace

KernelFile::KernelFile(std::filesystem::path path) : path_(std::move(path)) {
  const int descriptor = open();
  isThere_ = descriptor >= 0 || isPassing_;
  if (descriptor >= 0 && gKept.fetch_add(1) < gMostKept.load())
    kept_ = descriptor;
  else if (descriptor >= 0)
    giveBack(descriptor);
}

KernelFile::~KernelFile() {
  if (kept_ >= 0)
    giveBack(kept_);
}

KernelFile::KernelFile(KernelFile&& other) noexcept {
  *this = std::move(other);
}

KernelFile& KernelFile::operator=(KernelFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(kept_, other.kept_);
  std::swap(isThere_, other.isThere_);
  std::swap(isPassing_, other.isPassing_);
  return *this;
}

void KernelFile::keepAtMost(std::size_t files) noexcept {
  gMostKept.store(files);
}

int KernelFile::open() {
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  isPassing_ = descriptor < 0 && launcher::isPassing(errno);
  return descriptor;
}

std::string_view KernelFile::read() {
  if (path_.empty())
    return {};
  if (kept_ >= 0)
    return readAll(kept_);
  const int descriptor = open();
  if (descriptor < 0)
    return {};
  const std::string_view text = readAll(descriptor);
  ::close(descriptor);
  return text;
}

std::string_view Words::next() noexcept {
  const std::size_t begin = rest_.find_first_not_of(separator_);
  if (begin == std::string_view::npos)
    return rest_ = {};
  const std::size_t end = rest_.find(separator_, begin);
  const std::string_view word = rest_.substr(begin, end - begin);
  rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
  return word;
}

Words& Words::skip(int words) noexcept {
  for (; words > 0; --words)
    next();
  return *this;
}

std::uint64_t Words::number() noexcept {
  return numberIn(next()).value_or(0);
}

std::optional<std::uint64_t> numberIn(std::string_view word) noexcept {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
  return problem == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> numberOf(std::string_view text, std::string_view key) noexcept {
  Words lines(text, '\n');
  for (std::string_view line = lines.next(); !line.empty(); line = lines.next()) {
    if (!line.starts_with(key))
      continue;
    const std::size_t at = line.find_first_not_of(" \t=", key.size());
    if (at != std::string_view::npos && at > key.size())
      return numberIn(line.substr(at));
  }
  return std::nullopt;
}

double nsPerClockTick() noexcept {
  static const double kNs = 1e9 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return kNs;
}

std::string firstLineOf(const std::filesystem::path& path) {
  KernelFile file(path);
  return std::string(Words(file.read(), '\n').next());
}

}  // namespace sonde::recorder::system
