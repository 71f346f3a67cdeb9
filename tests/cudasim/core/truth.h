#pragma once
// The truth file (CUDASIM_TRUTH): a line of JSON for each real event of the devices and the
// program, and for each record that did not reach CUPTI's client. Any thread.

#include "tests/cudasim/core/activity.h"

namespace cudasim {

// `activity` has ticks for times. Like all of these, it has no effect without CUDASIM_TRUTH.
void writeTruth(const Activity& activity);

// A range of hardware counters, in ns of nowNs(); "ns" is its duration.
void writeRange(uint32_t device, uint64_t beginNs, uint64_t endNs);

// A record that CUPTI's client does not get: "dropped" (CUDASIM_DROP_EVERY), "refused" (the client
// provided no buffer, or has registered no callbacks), "lost-at-reset", "lost-at-finalize" or
// "lost-at-exit".
void writeLoss(const char* why, const Activity& activity);

// Writes everything to the file.
void flushTruth();

}  // namespace cudasim
