// CUPTI's buffers: handed out empty, taken back full, their records decoded. The functions that are
// CUPTI's callbacks may run on any thread, several at once.
#pragma once

#include "collector/preload/cuda/cupti/cupti_library.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::cuda {

// `api` must stay. False: the layouts of this version of CUPTI (cuptiGetVersion) are not known.
bool beginDelivery(const cupti::Api& api, std::uint32_t version) noexcept;

void requestBuffer(std::uint8_t** buffer, std::size_t* size, std::size_t* maxRecords) noexcept;
void completeBuffer(void* context,
                    std::uint32_t stream,
                    std::uint8_t* buffer,
                    std::size_t size,
                    std::size_t valid) noexcept;

// CUPTI was asked for all it had, for the last time: buffers that it still has hold nothing.
void endDelivery() noexcept;
// It was not the last time after all. Requires: an endDelivery() of the caller's.
void resumeDelivery() noexcept;
// The process ends without asking: what CUPTI has is lost.
void countUndelivered() noexcept;
// A context goes without asking: what CUPTI has of it is lost, also if it gives its buffers back.
void countDiscarded() noexcept;

// Calls of this thread, which is Sonde's own, are not recorded where they began before this time:
// another thread may have its number one day. One thread at most.
void leaveOutCallsOf(std::int32_t tid, std::uint64_t untilTicks) noexcept;

// There was an allocation whose pages move on their own.
bool hasManagedMemory() noexcept;

}  // namespace sonde::preload::cuda
