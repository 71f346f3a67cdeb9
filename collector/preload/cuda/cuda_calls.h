// What of the CUDA calls CUPTI tells: which are of interest, and stacks at them (--stacks-at cuda).
#pragma once

#include "collector/preload/cuda/cupti/cupti_library.h"

namespace sonde::preload::cuda {

// Calls that only ask, made by the thousand, are not recorded.
void leaveOutNoise(const cupti::Api& api) noexcept;

// --stacks-at cuda: from now on, or no more. The calling threads take their stacks when their calls
// are over, each with its call's correlation; of calls in one another the outermost does.
bool wantsCallStacks() noexcept;
void enableCallStacks(const cupti::Api& api, cupti::Subscriber subscriber, bool enable) noexcept;

// At the begin and the end of a runtime or driver call, by CUPTI's callback.
void onCall(cupti::Domain domain, const cupti::CallbackData& call) noexcept;

// The same of a call in which the host may wait for a device: the recorder is shown it while it
// lasts.
void onWait(cupti::Domain domain, const cupti::CallbackData& call) noexcept;

}  // namespace sonde::preload::cuda
