#include "collector/preload/cuda/activity/cuda_buffers.h"

#include "collector/core/platform/syscalls.h"

#include <sys/mman.h>

#include <atomic>

namespace sonde::preload::cuda {
namespace {

struct Buffer {
  std::atomic<std::uint32_t> taken{0};
  std::uint8_t* memory = nullptr;  // owned by whoever claimed the entry
};
constinit Buffer gBuffers[kMostBuffers];

std::uint8_t* map() noexcept {
  const long address = core::rawSyscall(SYS_mmap,
                                        0,
                                        static_cast<long>(kBufferBytes),
                                        PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS,
                                        -1,
                                        0);
  constexpr long kLastError = -4095;
  return address < 0 && address >= kLastError ? nullptr : reinterpret_cast<std::uint8_t*>(address);
}

}  // namespace

std::uint8_t* takeBuffer() noexcept {
  for (Buffer& buffer : gBuffers) {
    std::uint32_t free = 0;
    if (!buffer.taken.compare_exchange_strong(free, 1, std::memory_order_acquire))
      continue;
    if (buffer.memory == nullptr)
      buffer.memory = map();
    if (buffer.memory == nullptr)
      buffer.taken.store(0, std::memory_order_release);
    return buffer.memory;
  }
  return nullptr;
}

void returnBuffer(std::uint8_t* memory) noexcept {
  for (Buffer& buffer : gBuffers) {
    if (buffer.taken.load(std::memory_order_relaxed) != 0 && buffer.memory == memory) {
      buffer.taken.store(0, std::memory_order_release);
      return;
    }
  }
}

}  // namespace sonde::preload::cuda
