// A small file that the kernel generates at each read (/proc, /sys). As many as allowed are kept
// open, because opening one costs several times as much as reading it; the others are opened each
// time. One thread.
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

  // Limit for all files of the process together, from now on; 512 at first.
  static void keepAtMost(std::size_t files) noexcept;

  // Whether the file existed when it was constructed.
  bool isThere() const noexcept { return isThere_; }
  // Returns the current contents; empty if it cannot be read. Valid until the next read of any
  // KernelFile on this thread.
  std::string_view read();
  // The last read() failed for lack of open files or memory; a later one may succeed.
  bool isPassing() const noexcept { return isPassing_; }

 private:
  int open();

  std::filesystem::path path_;
  int kept_ = -1;
  bool isThere_ = false;
  bool isPassing_ = false;
};

// The words of a text, in order.
class Words {
 public:
  explicit Words(std::string_view text, char separator = ' ') noexcept
      : rest_(text), separator_(separator) {}

  // Empty at the end.
  std::string_view next() noexcept;
  Words& skip(int words) noexcept;
  // 0 if the word is not a number.
  std::uint64_t number() noexcept;

 private:
  std::string_view rest_;
  char separator_;
};

std::optional<std::uint64_t> numberIn(std::string_view word) noexcept;

// The number after `key` at the start of a line; unset: none.
std::optional<std::uint64_t> numberOf(std::string_view text, std::string_view key) noexcept;

// The length of a clock tick, the unit of processor time in /proc.
double nsPerClockTick() noexcept;

// The first line of a file that is read once; empty if it cannot be read.
std::string firstLineOf(const std::filesystem::path& path);

}  // namespace sonde::recorder::system
