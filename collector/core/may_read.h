// Whether memory that the host hands to a wrapper can be read. Where the kernel would answer EFAULT
// the wrapper may not look, or the host dies of it. Any thread, signal handlers, children of vfork.
#pragma once

#include "collector/core/syscalls.h"

#include <errno.h>

#include <cstdint>

namespace sonde::core {

// Of the byte at `address`. The kernel copies a signal mask from there and refuses it for what is
// to be done with it, so that nothing changes.
inline bool mayRead(const volatile void* address) noexcept {
  constexpr long kNoSuchHow = -1;
  constexpr std::uintptr_t kMaskBytes = 8;
  constexpr std::uintptr_t kFirstPage = 4096;  // is nobody's; of nullptr nothing would be read
  const std::uintptr_t from = reinterpret_cast<std::uintptr_t>(address) & ~(kMaskBytes - 1);
  return from >= kFirstPage &&
         rawSyscall(SYS_rt_sigprocmask, kNoSuchHow, static_cast<long>(from), 0, kMaskBytes) !=
             -EFAULT;
}

// Of all bytes of a thing that is no larger than a page.
template <typename Thing>
bool mayReadThing(const Thing* thing) noexcept {
  return mayRead(thing) && mayRead(reinterpret_cast<const char*>(thing + 1) - 1);
}

// Asks once a page, of addresses that mostly lie together.
class ReadablePage {
 public:
  bool has(const void* address) noexcept {
    const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(address) / kBytes;
    if (page == page_)
      return true;
    if (!mayRead(address))
      return false;
    page_ = page;
    return true;
  }

 private:
  static constexpr std::uintptr_t kBytes = 4096;
  std::uintptr_t page_ = ~std::uintptr_t{0};  // no address is in it
};

// Of an array of texts with a null pointer at its end, as exec takes it; nullptr is an empty one.
inline bool mayReadTexts(char* const* texts) noexcept {
  ReadablePage array;
  ReadablePage text;
  for (char* const* at = texts; at != nullptr; ++at) {  // ends with the memory at the latest
    if (!array.has(at) || !array.has(reinterpret_cast<const char*>(at + 1) - 1))
      return false;
    if (*at == nullptr)
      return true;
    const char* letter = *at;
    while (text.has(letter) && *letter != '\0')  // ends with the memory at the latest
      ++letter;
    if (!text.has(letter))
      return false;
  }
  return true;
}

}  // namespace sonde::core
