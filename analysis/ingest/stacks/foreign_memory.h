// The memory of another process, read without stopping it. Any thread.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sonde::ingest {

class ForeignMemory {
 public:
  explicit ForeignMemory(pid_t process) noexcept : process_(process) {}

  // The number of bytes that could be read, from the begin.
  std::size_t readSome(std::uint64_t address, void* to, std::size_t bytes) const noexcept {
    iovec own{to, bytes};
    iovec other{reinterpret_cast<void*>(address), bytes};
    const ssize_t got = process_vm_readv(process_, &own, 1, &other, 1, 0);
    return got < 0 ? 0 : static_cast<std::size_t>(got);
  }
  bool read(std::uint64_t address, void* to, std::size_t bytes) const noexcept {
    return readSome(address, to, bytes) == bytes;
  }
  template <typename Value>
  bool read(std::uint64_t address, Value& value) const noexcept {
    static_assert(std::is_trivially_copyable_v<Value>);
    return read(address, &value, sizeof value);
  }

 private:
  pid_t process_;
};

}  // namespace sonde::ingest
