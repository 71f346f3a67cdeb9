// The libgloo of this process: where its real functions are, and whether it is the one whose
// headers Sonde was built with. Any thread may ask; the answers are found once.
#pragma once

#include <atomic>

namespace sonde::preload::gloo {

// The function `name` (mangled) of the libgloo that a caller would have reached without Sonde.
// RTLD_NEXT is of no use: Python loads PyTorch, and libgloo with it, RTLD_LOCAL. nullptr only where
// nobody defines it.
void* realSymbol(const char* name) noexcept;

// Whether fields of the options that a program hands to `function`, a real function of libgloo, may
// be read: its object has the build id that belongs to the headers. When it has not, the trace says
// so once.
bool layoutKnown(void* function) noexcept;

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

 private:
  const char* name_;
  std::atomic<void*> address_{nullptr};
};

}  // namespace sonde::preload::gloo
