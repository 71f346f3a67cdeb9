// A fixed text that a probe uses as a name or a key. The first use interns it; later uses cost one
// load. Constant-initialised, so that it works before constructors have run.
#pragma once

#include "collector/core/emit.h"

#include <atomic>
#include <cstdint>

namespace sonde::preload {

class InternedKey {
 public:
  constexpr explicit InternedKey(const char* text) noexcept : text_(text) {}

  std::uint32_t operator()() noexcept {
    std::uint32_t id = id_.load(std::memory_order_relaxed);
    if (id == 0) {
      id = core::intern(text_);
      id_.store(id, std::memory_order_relaxed);
    }
    return id;
  }

 private:
  const char* text_;
  std::atomic<std::uint32_t> id_{0};
};

}  // namespace sonde::preload
