// Lets one part of the library follow the scopes of all threads as they open and close. Nothing is
// asked of a process in which nobody follows them but one load and a test for each.
#pragma once

#include "collector/wire/records.h"

#include <atomic>
#include <cstdint>

namespace sonde::core {

struct ScopeChange {
  wire::SliceKind kind{};
  std::uint32_t token = 0;  // 0: no scope of the calling thread changed
  bool opens = false;
  std::uint32_t name = 0;  // of one that closes
};

// Both run on the thread whose scopes change, outside the write of the record, which lies between
// them: what `before` does is the old innermost scope's, what `after` does the new one's.
struct ScopeWatch {
  void (*before)() noexcept;
  void (*after)(ScopeChange change) noexcept;
};

// At most one; it stays for the process' life. nullptr: nobody.
extern std::atomic<const ScopeWatch*> gScopeWatch;

}  // namespace sonde::core
