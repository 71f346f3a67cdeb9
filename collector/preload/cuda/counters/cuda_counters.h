// The GPU's hardware counters (--counters), read with CUPTI's range profiler.
//
// One thread at a time is measured, for one iteration from its begin to its end. Its time is cut
// wherever its innermost scope changes, and each piece is a range. So a range counts the work of
// one operation, and belongs to the same scope as the kernels launched there. Before each cut the
// host waits for the device, because hardware counters measure time spans, not launches. The next
// iteration collects the next group of metrics (counter_groups.h). The counts are stored at the
// iteration's end (counter_pass.h). An iteration that is not recorded in full (core/capture.h) from
// begin to end is not measured, or its measurement is stopped.
//
// No cut is made while a stream is being captured into a graph: waiting would break the capture.
//
// Any thread may call these functions.
#pragma once

#include "collector/preload/cuda/cupti/cupti_library.h"

namespace sonde::preload::cuda {

// From now on follows iterations, if counters are requested. `api` must outlive it.
void startCounters(void* library, const cupti::Api& api) noexcept;
// Stops permanently: another client uses CUPTI, or calls `function` of it.
void stopCounters(const char* function) noexcept;
bool wantsCounters() noexcept;

// CUPTI's callbacks.
void contextCreated(void* context) noexcept;
void contextGoes(void* context) noexcept;
void streamGoes(void* stream) noexcept;
void captureBegins(void* context, void* stream) noexcept;
void captureBegun(void* stream) noexcept;
void captureEnded(void* stream) noexcept;

// Call it at the end of the process: reports if nothing could be measured.
void tellOfCounters() noexcept;

}  // namespace sonde::preload::cuda
