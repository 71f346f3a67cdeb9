// CUPTI's buffers: hands out empty ones, takes full ones back and decodes their records. The
// functions that are CUPTI's callbacks may run on any thread, several at once.
#pragma once

#include "collector/preload/cuda/cupti/cupti_library.h"

#include <cstddef>
#include <cstdint>

namespace sonde::preload::cuda {

// `api` must outlive this. False: Sonde does not know the layouts of this CUPTI version
// (cuptiGetVersion).
bool beginDelivery(const cupti::Api& api, std::uint32_t version) noexcept;

void requestBuffer(std::uint8_t** buffer, std::size_t* size, std::size_t* maxRecords) noexcept;
void completeBuffer(void* context,
                    std::uint32_t stream,
                    std::uint8_t* buffer,
                    std::size_t size,
                    std::size_t valid) noexcept;

// CUPTI was flushed for the last time: the buffers that it still has are empty.
void endDelivery() noexcept;
// It was not the last time. Requires: an endDelivery() of the same caller.
void resumeDelivery() noexcept;
// The process ends without a flush: the records that CUPTI holds are lost.
void countUndelivered() noexcept;
// A context is destroyed without a flush: CUPTI's records of it are lost, even if CUPTI returns its
// buffers.
void countDiscarded() noexcept;

// Does not record calls of this thread, which belongs to Sonde, that began before this time.
// Another thread may reuse its number later. One thread at most.
void leaveOutCallsOf(std::int32_t tid, std::uint64_t untilTicks) noexcept;

// Whether managed memory, whose pages move by themselves, was allocated.
bool hasManagedMemory() noexcept;

}  // namespace sonde::preload::cuda
