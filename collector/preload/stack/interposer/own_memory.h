// Reads of this process's own memory that may fail: what is not there is no fault. Safe in a signal
// handler.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::preload::stack {

inline constexpr std::size_t kMostAtOnce = 32;

class OwnMemory {
 public:
  OwnMemory() noexcept;

  // All of it, or false.
  bool read(std::uint64_t from, void* to, std::size_t bytes) const noexcept;
  // `bytes` from each of these addresses, up to the first that is not there: how many were. At most
  // kMostAtOnce.
  std::size_t readEach(const std::uint64_t* from,
                       std::size_t count,
                       std::size_t bytes,
                       void* to) const noexcept;
  // Up to the first page that is not there; at most 64 KiB. How much that was.
  std::size_t readSome(std::uint64_t from, void* to, std::size_t most) const noexcept;

 private:
  long pid_;
};

}  // namespace sonde::preload::stack
