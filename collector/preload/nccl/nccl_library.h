// The NCCL of this process, and who records its calls. Any thread.
#pragma once

#include "collector/preload/nccl/nccl_hooks.h"

#include <atomic>

namespace sonde::preload::nccl {

// nullptr: nobody. Known before the program's own code runs.
const Hooks* hooks() noexcept;

// The definition of `name` behind this library's, for the code at `caller`; nullptr: there is none.
// All are those of the NCCL that the first was found in, though others be loaded later.
void* realNccl(const char* name, const void* caller) noexcept;

// A function that one of Sonde's stands in front of. Constant-initialised.
template <typename Function>
class RealNccl {
 public:
  constexpr explicit RealNccl(const char* name) noexcept : name_(name) {}

  // False: there is none. `caller`: an address in what calls it; nullptr: this library does.
  bool find(const void* caller) noexcept {
    if (address_.load(std::memory_order_acquire) == nullptr)
      address_.store(realNccl(name_, caller), std::memory_order_release);
    return address_.load(std::memory_order_relaxed) != nullptr;
  }

  // Requires: it was found.
  Function operator()() const noexcept {
    return reinterpret_cast<Function>(address_.load(std::memory_order_relaxed));
  }

 private:
  const char* name_;
  std::atomic<void*> address_{nullptr};
};

}  // namespace sonde::preload::nccl
