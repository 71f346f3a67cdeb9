#include "recorder/spool/session_page.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <new>
#include <system_error>

namespace sonde::recorder {

namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kWordsOffset = 2048;  // after the part that the processes use
static_assert(sizeof(wire::SessionPage) <= kWordsOffset);
static_assert(sizeof(RecorderWords) <= kPageBytes - kWordsOffset);

}  // namespace

Result<SessionPage> SessionPage::create(const std::filesystem::path& folder,
                                        std::uint32_t probeMask,
                                        std::uint64_t limitBytes) {
  const std::filesystem::path path = folder / "session";
  const std::filesystem::path building = folder / "session.new";
  const int file = ::open(building.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  void* memory = MAP_FAILED;
  // fallocate(2) itself: posix_fallocate(3) would write zeros if the file system cannot allocate.
  if (file >= 0 && fallocate(file, 0, 0, kPageBytes) == 0)
    memory = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int error = errno;
  if (file >= 0)
    close(file);
  if (memory == MAP_FAILED) {
    unlink(building.c_str());
    return Error{ErrorCode::Io,
                 fmt::format("{}: {}", path.string(), std::generic_category().message(error))};
  }
  auto* page = new (memory) wire::SessionPage{};
  page->version = wire::kSpoolVersion;
  page->probeMask = probeMask;
  page->limitBytes = limitBytes;
  page->recording.store(1);
  SessionPage owner(page);
  if (rename(building.c_str(), path.c_str()) != 0)
    return Error{ErrorCode::Io,
                 fmt::format("{}: {}", path.string(), std::generic_category().message(errno))};
  return owner;
}

Result<SessionPage> SessionPage::open(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "session";
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  struct stat status {};
  void* memory = MAP_FAILED;
  if (file >= 0 && fstat(file, &status) == 0 &&
      status.st_size >= static_cast<off_t>(sizeof(wire::SessionPage)))
    memory = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0)
    close(file);
  if (memory == MAP_FAILED)
    return Error{ErrorCode::Io, fmt::format("{} cannot be read", path.string())};
  return SessionPage(static_cast<wire::SessionPage*>(memory));
}

SessionPage::~SessionPage() {
  if (page_ != nullptr)
    munmap(page_, kPageBytes);
}

void SessionPage::setRecording(wire::RecordingState state) {
  page_->recording.store(static_cast<std::uint32_t>(state));
}

wire::RecordingState SessionPage::recording() const {
  return static_cast<wire::RecordingState>(page_->recording.load());
}

std::uint64_t SessionPage::allocatedBytes() const {
  return page_->allocatedBytes.load(std::memory_order_relaxed);
}

RecorderWords& SessionPage::words() const noexcept {
  return *reinterpret_cast<RecorderWords*>(reinterpret_cast<std::byte*>(page_) + kWordsOffset);
}

void SessionPage::setCapture(const CaptureRule& rule) {
  page_->capture.kind = rule.kind;
  page_->capture.first = rule.first;
  page_->capture.last = rule.last;
  page_->capture.every.store(rule.every);
  rule.range.copy(page_->capture.range, sizeof page_->capture.range - 1);
  if (!rule.isAll())
    rule.text.copy(words().capture, sizeof words().capture - 1);
}

void SessionPage::recordEvery(std::uint32_t every) {
  page_->capture.every.store(every);
}

std::uint64_t SessionPage::givenBack() const {
  return words().givenBack.load();
}

void SessionPage::addGivenBack(std::uint64_t records) {
  words().givenBack.fetch_add(records, std::memory_order_relaxed);
}

void SessionPage::freeBytes(std::uint64_t bytes) {
  page_->allocatedBytes.fetch_sub(bytes, std::memory_order_relaxed);
}

std::uint32_t SessionPage::refusedImages() const {
  return page_->refusedImages.load();
}

std::uint32_t SessionPage::unreachableImages() const {
  return page_->unreachableImages.load();
}

}  // namespace sonde::recorder
