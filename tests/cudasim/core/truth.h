#pragma once
// The truth file (CUDASIM_TRUTH): a line of JSON for each thing the devices and the program really
// did, and for each record that did not reach CUPTI's client. Any thread.

#include "tests/cudasim/core/activity.h"

namespace cudasim {

// `activity` has ticks for times. No effect without CUDASIM_TRUTH; so for all of these.
void writeTruth(const Activity& activity);

// A range of hardware counters, in ns of nowNs(): "ns" is how long it was.
void writeRange(uint32_t device, uint64_t beginNs, uint64_t endNs);

// A record that CUPTI's client does not get: "dropped" (CUDASIM_DROP_EVERY), "refused" (the client
// gave no buffer, or has registered no callbacks), "lost-at-reset", "lost-at-finalize" or
// "lost-at-exit".
void writeLoss(const char* why, const Activity& activity);

// Everything written so far is in the file.
void flushTruth();

}  // namespace cudasim
