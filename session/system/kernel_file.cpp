#include "session/system/kernel_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>
#include <vector>

namespace sonde::session::system {
namespace {

constexpr std::size_t kFirstBytes = 16384;
constexpr std::size_t kMostBytes = 4 << 20;  // /proc/stat of the largest machines is half of that

}  // namespace

KernelFile::KernelFile(const std::filesystem::path& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

KernelFile::~KernelFile() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

KernelFile::KernelFile(KernelFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

KernelFile& KernelFile::operator=(KernelFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

std::string_view KernelFile::read() const {
  thread_local std::vector<char> buffer(kFirstBytes);
  for (;;) {
    const ssize_t bytes = ::pread(descriptor_, buffer.data(), buffer.size(), 0);
    if (bytes <= 0)
      return {};
    const auto got = static_cast<std::size_t>(bytes);
    if (got < buffer.size() || buffer.size() >= kMostBytes)
      return {buffer.data(), got};
    buffer.resize(buffer.size() * 2);
  }
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

std::string firstLineOf(const std::filesystem::path& path) {
  const KernelFile file(path);
  return std::string(Words(file.read(), '\n').next());
}

}  // namespace sonde::session::system
