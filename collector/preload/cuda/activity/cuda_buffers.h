// The memory that CUPTI fills with records: a pool that grows as it is used and is never given
// back. Any thread; no lock.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::preload::cuda {

// A full buffer is what CUPTI delivers on its own, and what is lost when the process is killed: a
// few thousand records.
inline constexpr std::size_t kBufferBytes = std::size_t{512} * 1024;
inline constexpr std::size_t kMostBuffers = 256;  // 128 MiB

// nullptr: all are in use, or there is no memory.
std::uint8_t* takeBuffer() noexcept;
void returnBuffer(std::uint8_t* buffer) noexcept;

}  // namespace sonde::preload::cuda
