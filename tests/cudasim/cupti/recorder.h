#pragma once
// Buffers between the devices and CUPTI's client. Records of finished work wait in a queue until
// the worker thread or a flush puts them into the client's buffer; records of the host go there at
// once, so the client is asked for a buffer in whatever thread makes a record. A buffer is handed
// back when it is full, by the worker, or flushed. Any thread. The client's functions are called
// one at a time, and the one that completes a buffer with no lock that a record needs.

#include "tests/cudasim/core/activity.h"

#include <cupti.h>

#include <cstddef>
#include <deque>
#include <vector>

namespace cudasim::recorder {

void registerClient(CUpti_BuffersCallbackRequestFunc request,
                    CUpti_BuffersCallbackCompleteFunc complete);
bool hasClient();
bool inClient();  // the calling thread runs one of the client's functions

void append(const Activity& activity);
void queue(const std::vector<Activity>& activities);
// Forgets what is queued of a context, as lost-at-reset.
void forgetContext(uint32_t context);
// Forgets all, for that reason, and the client.
void forgetAll(const char* why);

// Hands over what is there: full buffers only, or all.
void deliver(bool all);
// 0: no period; the worker wakes up when a buffer is full.
void setPeriodMs(uint32_t ms);
size_t takeDropped();

}  // namespace cudasim::recorder
