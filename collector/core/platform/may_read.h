// Whether memory that the host passes to a wrapper can be read. Where the kernel would answer
// EFAULT, a read by the wrapper would kill the host. Any thread, signal handlers, children of
// vfork.
#pragma once

#include "collector/core/platform/syscalls.h"

#include <errno.h>
#include <linux/futex.h>

#include <cstdint>

namespace sonde::core {

// Whether the byte at `address` can be read. Asks the kernel to move no waiting thread from this
// word to itself. The kernel reads the word first and changes nothing.
inline bool mayRead(const void* address) noexcept {
  const long word = asLong(address) & ~static_cast<long>(sizeof(std::uint32_t) - 1);
  constexpr long kNone = 0;
  return rawSyscall(SYS_futex, word, FUTEX_CMP_REQUEUE_PRIVATE, kNone, kNone, word, 0) != -EFAULT;
}

// Whether all bytes of an object no larger than a page can be read.
template <typename Thing>
bool mayReadThing(const Thing* thing) noexcept {
  return mayRead(thing) && mayRead(reinterpret_cast<const char*>(thing + 1) - 1);
}

// Asks once per page, for addresses that mostly lie close together.
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

// The same for a text, up to its end.
inline bool mayReadText(const char* letter, ReadablePage& page) noexcept {
  while (page.has(letter)) {  // ends with the memory at the latest
    if (*letter++ == '\0')
      return true;
  }
  return false;
}

inline bool mayReadText(const char* text) noexcept {
  ReadablePage page;
  return mayReadText(text, page);
}

// The same for an array of texts that ends with a null pointer, as exec takes it; nullptr is an
// empty array.
inline bool mayReadTexts(char* const* texts) noexcept {
  ReadablePage array;
  ReadablePage text;
  for (char* const* at = texts; at != nullptr; ++at) {  // ends with the memory at the latest
    if (!array.has(at) || !array.has(reinterpret_cast<const char*>(at + 1) - 1))
      return false;
    if (*at == nullptr)
      return true;
    if (!mayReadText(*at, text))
      return false;
  }
  return true;
}

}  // namespace sonde::core
