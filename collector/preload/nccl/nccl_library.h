// The NCCL of this process, and who records its calls. Any thread.
#pragma once

#include "collector/preload/nccl/nccl_hooks.h"

#include <atomic>

namespace sonde::preload::nccl {

// nullptr: nobody. Known before the program's own code runs.
const Hooks* hooks() noexcept;

// The definition of `name` behind this library's, wherever it was loaded; nullptr: there is none.
void* realNccl(const char* name) noexcept;

// A function that one of Sonde's stands in front of. Constant-initialised.
template <typename Function>
class RealNccl {
 public:
  constexpr explicit RealNccl(const char* name) noexcept : name_(name) {}

  Function operator()() noexcept {
    void* found = address_.load(std::memory_order_acquire);
    if (found == nullptr) {
      found = realNccl(name_);
      address_.store(found, std::memory_order_release);
    }
    return reinterpret_cast<Function>(found);
  }

 private:
  const char* name_;
  std::atomic<void*> address_{nullptr};
};

}  // namespace sonde::preload::nccl
