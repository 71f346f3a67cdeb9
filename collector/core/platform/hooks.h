// How a probe that intercepts a libc or library symbol is written.
//
// A wrapper keeps errno, has no destructor and no catch around the forwarded call, and holds no
// guard across it, so that the host's exceptions and cancellations pass through it. Its shape:
//
//   SONDE_EXPORT ssize_t read(int fd, void* buffer, size_t count) {
//     static Real<ssize_t (*)(int, void*, size_t)> real{"read"};
//     if (!core::enabled(Probe::Net)) return real()(fd, buffer, count);
//     const std::uint64_t begin = core::ticks();
//     const ssize_t result = real()(fd, buffer, count);
//     …
//   }
#pragma once

#include <atomic>

#define SONDE_EXPORT extern "C" __attribute__((visibility("default")))

namespace sonde::core {

// dlsym(RTLD_NEXT, name), then with `version` dlvsym, with the result that this library's callers
// would get.
void* nextSymbol(const char* name, const char* version) noexcept;

// The function that an interposed symbol hides, looked up at first use. Constant-initialised, so
// that it works before constructors have run. operator() returns nullptr if there is no such
// function.
template <typename Function>
class Real {
 public:
  constexpr explicit Real(const char* name, const char* version = nullptr) noexcept
      : name_(name), version_(version) {}

  Function operator()() noexcept {
    void* address = address_.load(std::memory_order_acquire);
    if (address == nullptr) {
      address = nextSymbol(name_, version_);
      address_.store(address, std::memory_order_release);
    }
    return reinterpret_cast<Function>(address);
  }

 private:
  const char* name_;
  const char* version_;
  std::atomic<void*> address_{nullptr};
};

}  // namespace sonde::core
