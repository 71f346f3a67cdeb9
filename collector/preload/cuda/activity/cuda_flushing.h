// For a job that a flight recorder follows (`sonde run --last`): a thread, sonde-cuda, that flushes
// CUPTI each second. By itself CUPTI delivers only full buffers, which may take longer than the
// time that the recorder keeps. CUPTI keeps a buffer that has incomplete records.
//
// Any thread.
#pragma once

#include "collector/preload/cuda/cupti/cupti_library.h"

namespace sonde::preload::cuda {

// `api` must outlive this. Call once. Has no effect without a flight recorder.
void beginFlushing(const cupti::Api& api) noexcept;
// Stops the flushing. When it returns, no flush is under way, unless that takes very long: CUPTI
// itself may hang.
void holdFlushing() noexcept;
// Starts the flushing again. Requires: a holdFlushing() of the same caller.
void resumeFlushing() noexcept;

}  // namespace sonde::preload::cuda
