// Records NVTX's ranges and marks, whichever function they came through. Each function records,
// passes the event to the other tool (nvtx_chain.h) before or after, and returns the value that
// NVTX promises its caller.
#pragma once

#include "collector/preload/nvtx/nvtx_text.h"

namespace sonde::preload::nvtx {

// Opens a scope. Returns its 0-based level in its domain on this thread, or
// NVTX_NO_PUSH_POP_TRACKING.
int push(Domain domain, Name name, const nvtxEventAttributes_t* attributes) noexcept;
// Called instead of push() while the probe is off, so that the matching pop closes nothing else.
int skipPush(Domain domain) noexcept;
// Closes the domain's innermost scope on this thread. Returns its level, or
// NVTX_NO_PUSH_POP_TRACKING if there is none.
int pop(Domain domain) noexcept;

// `id`: the other tool's id for the range; 0 if there is no such tool.
nvtxRangeId_t start(nvtxRangeId_t id,
                    Domain domain,
                    Name name,
                    const nvtxEventAttributes_t* attributes) noexcept;
void end(nvtxRangeId_t id) noexcept;
// Whether start() created `id`, so that the other tool does not know it.
bool isOwnId(nvtxRangeId_t id) noexcept;

void mark(Domain domain, Name name, const nvtxEventAttributes_t* attributes) noexcept;

// A wait of this thread (nvtxDomainSyncUser…).
void beginWait(Name name) noexcept;
void endWait() noexcept;

bool recording() noexcept;

}  // namespace sonde::preload::nvtx
