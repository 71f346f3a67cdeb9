#include "collector/preload/cuda/activity/cuda_names.h"

#include "collector/core/emit.h"
#include "collector/preload/cuda/activity/cuda_words.h"

#include <cstring>
#include <initializer_list>

namespace sonde::preload::cuda {

void NameTable::begin(CallbackName callbackName) noexcept {
  for (const cupti::Domain domain : {cupti::Domain::Runtime, cupti::Domain::Driver}) {
    for (std::uint32_t cbid = 1; cbid < kCallbacks; ++cbid)
      callbackOf(domain, cbid).name = callbackName(domain, cbid);
  }
}

void NameTable::forgetTexts() noexcept {
  std::memset(texts_, 0, sizeof texts_);
}

// Kernels of one name share its text while their module is loaded, so within a buffer the pointer
// identifies it.
std::uint32_t NameTable::idOf(const char* text) noexcept {
  if (text == nullptr)
    return 0;
  const auto address = reinterpret_cast<std::uintptr_t>(text);
  Text& entry = texts_[(address >> 4 ^ address >> 15) % kTexts];
  if (entry.text != text)
    entry = {text, core::intern(text)};
  return entry.id;
}

NameTable::Callback& NameTable::callbackOf(cupti::Domain domain, std::uint32_t cbid) noexcept {
  return callbacks_[domain == cupti::Domain::Runtime ? 1 : 0][cbid];
}

std::uint32_t NameTable::idOf(cupti::Domain domain, std::uint32_t cbid) noexcept {
  Callback& callback = callbackOf(domain, cbid < kCallbacks ? cbid : 0);
  if (callback.id == 0)
    callback.id = internFunction(callback.name);
  return callback.id;
}

}  // namespace sonde::preload::cuda
