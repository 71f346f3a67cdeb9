// A library of the host that one of Sonde's stands in front of: how the functions behind are found.
// Any thread; nothing here changes errno or what dlerror() says.
#pragma once

#include <atomic>

namespace sonde::preload {

class InterposedLibrary {
 public:
  // The names it may have been loaded under, up to a nullptr.
  constexpr explicit InterposedLibrary(const char* const* sonames) noexcept : sonames_(sonames) {}

  // The definition of `name` behind this library's, for the code at `caller`; nullptr: there is
  // none. All are those of the library that the first was found in, though others be loaded later.
  void* find(const char* name, const void* caller) noexcept;

 private:
  void* findScope(const char* name, const void* caller) const noexcept;

  const char* const* sonames_;
  std::atomic<void*> scope_{nullptr};  // a handle of dlsym's, once the first has been found
};

// A function that one of Sonde's stands in front of. Constant-initialised.
template <typename Function>
class Interposed {
 public:
  constexpr Interposed(InterposedLibrary& library, const char* name) noexcept
      : library_(library), name_(name) {}

  // False: there is none. `caller`: an address in what calls it; nullptr: this library does.
  bool find(const void* caller) noexcept {
    if (address_.load(std::memory_order_acquire) == nullptr)
      address_.store(library_.find(name_, caller), std::memory_order_release);
    return address_.load(std::memory_order_relaxed) != nullptr;
  }

  // Requires: it was found.
  Function operator()() const noexcept {
    return reinterpret_cast<Function>(address_.load(std::memory_order_relaxed));
  }

 private:
  InterposedLibrary& library_;
  const char* name_;
  std::atomic<void*> address_{nullptr};
};

}  // namespace sonde::preload
