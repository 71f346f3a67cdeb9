// Reads this process's own memory without faulting if it is not mapped. Safe in a signal handler.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::preload::stack {

inline constexpr std::size_t kMostAtOnce = 32;

class OwnMemory {
 public:
  OwnMemory() noexcept;

  // Reads all bytes, or returns false.
  bool read(std::uint64_t from, void* to, std::size_t bytes) const noexcept;
  // Reads `bytes` from each of these addresses, up to the first that is not mapped. Returns the
  // number of addresses that were read, at most kMostAtOnce.
  std::size_t readEach(const std::uint64_t* from,
                       std::size_t count,
                       std::size_t bytes,
                       void* to) const noexcept;
  // Reads up to the first page that is not mapped, at most 64 KiB. Returns the number of bytes.
  std::size_t readSome(std::uint64_t from, void* to, std::size_t most) const noexcept;

 private:
  long pid_;
};

}  // namespace sonde::preload::stack
