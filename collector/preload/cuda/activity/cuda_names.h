// The names in CUPTI's records as interned texts: of kernels by the address of the text, of
// callbacks by their ids. The owner of an instance holds a lock.
#pragma once

#include "collector/preload/cuda/activity/cupti_records.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::cuda {

// The name of a callback id, valid for ever; nullptr: no such id.
using CallbackName = const char* (*)(cupti::Domain domain, std::uint32_t cbid);

class NameTable {
 public:
  constexpr NameTable() noexcept = default;

  // Reads all names of callbacks now, because a caller may hold CUPTI's locks while records are
  // decoded, and no function of CUPTI may be called then.
  void begin(CallbackName callbackName) noexcept;
  // The addresses of texts may have become invalid.
  void forgetTexts() noexcept;

  std::uint32_t idOf(const char* text) noexcept;
  std::uint32_t idOf(cupti::Domain domain, std::uint32_t cbid) noexcept;

 private:
  struct Text {
    const char* text;
    std::uint32_t id;
  };
  struct Callback {
    const char* name;  // nullptr: it has none
    std::uint32_t id;  // 0: not used yet
  };
  static constexpr std::size_t kTexts = 2048;
  static constexpr std::size_t kCallbacks = 1024;

  Callback& callbackOf(cupti::Domain domain, std::uint32_t cbid) noexcept;

  Text texts_[kTexts] = {};
  Callback callbacks_[2][kCallbacks] = {};
};

}  // namespace sonde::preload::cuda
