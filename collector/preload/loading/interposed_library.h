// A library of the host whose functions one of Sonde's libraries intercepts: finds the original
// functions. Any thread; no function changes errno or what dlerror() reports.
#pragma once

#include <atomic>

namespace sonde::preload {

class InterposedLibrary {
 public:
  // The names under which it may have been loaded, up to a nullptr.
  constexpr explicit InterposedLibrary(const char* const* sonames) noexcept : sonames_(sonames) {}

  // Returns the definition of `name` behind this library's, for the code at `caller`; nullptr:
  // none. All come from the library in which the first one was found, even if others are loaded
  // later.
  void* find(const char* name, const void* caller) noexcept;

 private:
  void* findScope(const char* name, const void* caller) const noexcept;

  const char* const* sonames_;
  std::atomic<void*> scope_{nullptr};  // a handle for dlsym, set when the first function is found
};

// A function that Sonde intercepts. Constant-initialised.
template <typename Function>
class Interposed {
 public:
  constexpr Interposed(InterposedLibrary& library, const char* name) noexcept
      : library_(library), name_(name) {}

  // False: not found. `caller`: an address in the calling code; nullptr: this library calls.
  bool find(const void* caller) noexcept {
    if (address_.load(std::memory_order_acquire) == nullptr)
      address_.store(library_.find(name_, caller), std::memory_order_release);
    return address_.load(std::memory_order_relaxed) != nullptr;
  }

  // Requires: find() returned true.
  Function operator()() const noexcept {
    return reinterpret_cast<Function>(address_.load(std::memory_order_relaxed));
  }

 private:
  InterposedLibrary& library_;
  const char* name_;
  std::atomic<void*> address_{nullptr};
};

}  // namespace sonde::preload
