// Of a job that a flight recorder follows (`sonde run --last`): a thread, sonde-cuda, that asks
// CUPTI each second for what it has. By itself CUPTI hands over full buffers alone, which may take
// longer than the recorder looks back. Of records that are not complete CUPTI keeps the buffer.
//
// Any thread.
#pragma once

#include "collector/preload/cuda/cupti/cupti_library.h"

namespace sonde::preload::cuda {

// `api` must stay. Once, and without effect where no flight recorder asks for it.
void beginFlushing(const cupti::Api& api) noexcept;
// CUPTI is asked no more, and is not being asked when this returns; unless that takes very long,
// which it may where CUPTI itself hangs.
void holdFlushing() noexcept;
// It is again. Requires: a holdFlushing() of the caller's.
void resumeFlushing() noexcept;

}  // namespace sonde::preload::cuda
