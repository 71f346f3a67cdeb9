// What NVTX's ranges and marks become, whichever function they came through. Each records, then or
// before lets the other tool have the event (nvtx_chain.h) and returns what NVTX promises its
// caller.
#pragma once

#include "collector/preload/nvtx/nvtx_text.h"

namespace sonde::preload::nvtx {

// Opens a scope; the 0-based level of it in its domain on this thread, or
// NVTX_NO_PUSH_POP_TRACKING.
int push(Domain domain, Name name, const nvtxEventAttributes_t* attributes) noexcept;
// Instead of push() while the probe is off, so that the pop that belongs to it closes nothing else.
int skipPush(Domain domain) noexcept;
// Closes the domain's innermost scope on this thread; its level, or NVTX_NO_PUSH_POP_TRACKING when
// there is none.
int pop(Domain domain) noexcept;

// `id` is what the other tool called the range, 0 when there is no such tool.
nvtxRangeId_t start(nvtxRangeId_t id,
                    Domain domain,
                    Name name,
                    const nvtxEventAttributes_t* attributes) noexcept;
void end(nvtxRangeId_t id) noexcept;
// Whether `id` is one that start() made up, which the other tool has never heard of.
bool isOwnId(nvtxRangeId_t id) noexcept;

void mark(Domain domain, Name name, const nvtxEventAttributes_t* attributes) noexcept;

// A wait of this thread (nvtxDomainSyncUser…).
void beginWait(Name name) noexcept;
void endWait() noexcept;

bool recording() noexcept;

}  // namespace sonde::preload::nvtx
