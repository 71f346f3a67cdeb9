// CUPTI's reports about CUDA calls: which calls are recorded, and stacks at them (--stacks-at
// cuda).
#pragma once

#include "collector/preload/cuda/cupti/cupti_library.h"

namespace sonde::preload::cuda {

// Disables calls that only query something and come by the thousand.
void leaveOutNoise(const cupti::Api& api) noexcept;

// --stacks-at cuda: starts or stops it. A calling thread takes its stack when its call is over,
// with the call's correlation. For nested calls, the outermost one does.
bool wantsCallStacks() noexcept;
void enableCallStacks(const cupti::Api& api, cupti::Subscriber subscriber, bool enable) noexcept;

// CUPTI's callback at the begin and the end of a runtime or driver call.
void onCall(cupti::Domain domain, const cupti::CallbackData& call) noexcept;

// The same for a call in which the host may wait for a device. The call is shown to the recorder
// while it lasts.
void onWait(cupti::Domain domain, const cupti::CallbackData& call) noexcept;

}  // namespace sonde::preload::cuda
