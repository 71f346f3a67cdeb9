// The libgloo of this process and its real functions. Any thread may call; each lookup is done
// once.
#pragma once

#include "collector/preload/gloo/gloo_layout.h"

#include <atomic>

namespace sonde::preload::gloo {

// Returns the function `name` (mangled) that a caller would have reached without Sonde. RTLD_NEXT
// does not find it, because Python loads PyTorch, and libgloo with it, RTLD_LOCAL. nullptr only if
// no library defines it.
void* realSymbol(const char* name) noexcept;

// A function that Sonde intercepts. Constant-initialised.
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
  // The knowledge about the layout of its options.
  std::atomic<Layout>& layout() noexcept { return layout_; }

 private:
  const char* name_;
  std::atomic<void*> address_{nullptr};
  std::atomic<Layout> layout_{Layout::Unasked};
};

}  // namespace sonde::preload::gloo
