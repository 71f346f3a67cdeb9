// The memory that CUPTI fills with records: a pool that grows on demand and never shrinks. Any
// thread; no lock.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::preload::cuda {

// CUPTI delivers a buffer by itself only when it is full. A buffer that is not full is lost if the
// process is killed: up to a few thousand records.
inline constexpr std::size_t kBufferBytes = std::size_t{512} * 1024;
inline constexpr std::size_t kMostBuffers = 256;  // 128 MiB

// nullptr: all buffers are in use, or there is no memory.
std::uint8_t* takeBuffer() noexcept;
void returnBuffer(std::uint8_t* buffer) noexcept;

}  // namespace sonde::preload::cuda
