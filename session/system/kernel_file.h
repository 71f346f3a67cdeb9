// A small file that the kernel makes anew each time that it is read (/proc, /sys), kept open,
// because to open one costs several times what reading it does. One thread.
#pragma once

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sonde::session::system {

class KernelFile {
 public:
  KernelFile() = default;
  explicit KernelFile(const std::filesystem::path& path);
  ~KernelFile();
  KernelFile(KernelFile&& other) noexcept;
  KernelFile& operator=(KernelFile&& other) noexcept;

  bool isOpen() const noexcept { return descriptor_ >= 0; }
  // What it says now; empty when it cannot be read. Until the next read of any KernelFile on this
  // thread.
  std::string_view read() const;

 private:
  int descriptor_ = -1;
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

// The first line of a file that is read once; empty when it cannot be.
std::string firstLineOf(const std::filesystem::path& path);

}  // namespace sonde::session::system
