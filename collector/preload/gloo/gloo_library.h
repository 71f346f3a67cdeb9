// The libgloo of this process: where its real functions are. Any thread may ask; the answers are
// found once.
#pragma once

#include "collector/preload/gloo/gloo_layout.h"

#include <atomic>

namespace sonde::preload::gloo {

// The function `name` (mangled) of the libgloo that a caller would have reached without Sonde.
// RTLD_NEXT is of no use: Python loads PyTorch, and libgloo with it, RTLD_LOCAL. nullptr only where
// nobody defines it.
void* realSymbol(const char* name) noexcept;

// A function that one of Sonde's stands in front of. Constant-initialised.
template <typename Function>
class RealGloo {
 public:
  constexpr explicit RealGloo(const char* name) noexcept : name_(name) {}

  Function operator()() noexcept { return reinterpret_cast<Function>(address()); }
  void* address() noexcept {
    void* found = address_.load(std::memory_order_acquire);
    if (found == nullptr) {
      found = realSymbol(name_);
      address_.store(found, std::memory_order_release);
    }
    return found;
  }
  // What is known of the options that it is given.
  std::atomic<Layout>& layout() noexcept { return layout_; }

 private:
  const char* name_;
  std::atomic<void*> address_{nullptr};
  std::atomic<Layout> layout_{Layout::Unasked};
};

}  // namespace sonde::preload::gloo
