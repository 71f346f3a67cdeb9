// CUPTI's callbacks to Sonde other than those for buffers: creation and destruction of contexts,
// resets, and captures of streams into graphs. Any thread, inside the CUDA call that the callback
// is about.
#pragma once

#include "collector/preload/cuda/cupti/cupti_library.h"

#include <cstdint>

namespace sonde::preload::cuda {

void enableCallbacks(const cupti::Api& api, cupti::Subscriber subscriber, bool enable) noexcept;

// Pass it to cuptiSubscribe.
void onCallback(void* user, cupti::Domain domain, std::uint32_t cbid, const void* data) noexcept;

}  // namespace sonde::preload::cuda
