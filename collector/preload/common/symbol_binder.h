// Looks up the functions of a library that was opened at run time.
#pragma once

#include "collector/core/platform/symbols.h"

namespace sonde::preload {

// Fills in a function pointer. False if the library lacks the function; `missing` is then its name.
struct SymbolBinder {
  void* library;
  const char*& missing;

  template <typename Function>
  bool operator()(const char* name, Function& function) const noexcept {
    function = reinterpret_cast<Function>(core::libcDlsym()(library, name));
    if (function == nullptr)
      missing = name;
    return function != nullptr;
  }
};

}  // namespace sonde::preload
