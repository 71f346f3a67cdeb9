// Hardware counters of the GPU (--counters), by CUPTI's range profiler.
//
// One thread at a time is measured, for one iteration: from the begin of an iteration on it to that
// iteration's end. In between its time is cut wherever its innermost scope changes, and each piece
// is a range: so a range's counters are of what was executed for one operation, and belong to the
// scope that kernels launched there have. Before each cut the host waits for the device, because
// hardware counters know no launches, only time. The next iteration collects the next group of
// metrics (counter_groups.h). What it counted is stored at its end (counter_pass.h). An iteration
// that is not recorded in full (core/capture.h) from its begin to its end is not measured, or not
// any more.
//
// While a stream is being captured into a graph nothing is cut: waiting would break the capture.
//
// These may be called from any thread.
#pragma once

#include "collector/preload/cuda/cupti/cupti_library.h"

namespace sonde::preload::cuda {

// Follows iterations from now on if counters are asked for. `api` must outlive it.
void startCounters(void* library, const cupti::Api& api) noexcept;
// Ends for good: another client uses CUPTI, or this function of it.
void stopCounters(const char* function) noexcept;
bool wantsCounters() noexcept;

// What CUPTI calls back for.
void contextCreated(void* context) noexcept;
void contextGoes(void* context) noexcept;
void streamGoes(void* stream) noexcept;
void captureBegins(void* context, void* stream) noexcept;
void captureBegun(void* stream) noexcept;
void captureEnded(void* stream) noexcept;

// At the end of the process: says so if nothing could be measured.
void tellOfCounters() noexcept;

}  // namespace sonde::preload::cuda
