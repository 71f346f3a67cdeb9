// Lets one part of the library follow the scopes of all threads as they open and close. If no part
// follows them, this costs one load and a test per scope.
#pragma once

#include "collector/wire/records.h"

#include <atomic>
#include <cstdint>

namespace sonde::core {

struct ScopeChange {
  wire::SliceKind kind{};
  std::uint32_t token = 0;  // 0: no scope of the calling thread changed
  bool opens = false;
  std::uint32_t name = 0;  // of a scope that closes
};

// Both run on the thread whose scopes change, outside the write of the record. The record is
// written between them. Work in `before` belongs to the old innermost scope, work in `after` to the
// new one.
struct ScopeWatch {
  void (*before)() noexcept;
  void (*after)(ScopeChange change) noexcept;
};

// At most one, for the life of the process. nullptr: no part follows scopes.
extern std::atomic<const ScopeWatch*> gScopeWatch;

}  // namespace sonde::core
