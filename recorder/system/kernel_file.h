// A small file that the kernel makes anew each time that it is read (/proc, /sys). As many as may
// be are kept open, because to open one costs several times what reading it does; the others are
// opened each time. One thread.
#pragma once

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sonde::recorder::system {

class KernelFile {
 public:
  KernelFile() = default;
  explicit KernelFile(std::filesystem::path path);
  ~KernelFile();
  KernelFile(KernelFile&& other) noexcept;
  KernelFile& operator=(KernelFile&& other) noexcept;

  // Of all files of the process together, from now on; 512 at first.
  static void keepAtMost(std::size_t files) noexcept;

  // Whether it was there when it was looked for.
  bool isThere() const noexcept { return isThere_; }
  // What it says now; empty when it cannot be read. Until the next read of any KernelFile on this
  // thread.
  std::string_view read();
  // The last read() failed for want of open files or memory: it may go well again.
  bool isPassing() const noexcept { return isPassing_; }

 private:
  int open();

  std::filesystem::path path_;
  int kept_ = -1;
  bool isThere_ = false;
  bool isPassing_ = false;
};

// The words of a text, one after the other.
class Words {
 public:
  explicit Words(std::string_view text, char separator = ' ') noexcept
      : rest_(text), separator_(separator) {}

  // Empty at the end.
  std::string_view next() noexcept;
  Words& skip(int words) noexcept;
  // 0 for what is no number.
  std::uint64_t number() noexcept;

 private:
  std::string_view rest_;
  char separator_;
};

std::optional<std::uint64_t> numberIn(std::string_view word) noexcept;

// The number behind `key` at a line's begin; nothing when there is none.
std::optional<std::uint64_t> numberOf(std::string_view text, std::string_view key) noexcept;

// The length of a clock tick, the unit of processor time in /proc.
double nsPerClockTick() noexcept;

// The first line of a file that is read once; empty when it cannot be.
std::string firstLineOf(const std::filesystem::path& path);

}  // namespace sonde::recorder::system
