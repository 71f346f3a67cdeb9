#pragma once
// Buffers between the devices and CUPTI's client. Records of finished work wait in a queue until
// the worker thread or a flush puts them into the client's buffer. Records of the host go there
// immediately, so any thread that creates a record may ask the client for a buffer. A buffer is
// returned when it is full, by the worker, or by a flush. Any thread. The client's functions are
// called one at a time. The one that completes a buffer is called without any lock that a record
// needs.

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
// Forgets the queued records of a context, as lost-at-reset.
void forgetContext(uint32_t context);
// Forgets all records, for that reason, and the client.
void forgetAll(const char* why);

// Delivers full buffers only, or all.
void deliver(bool all);
// 0: no period; the worker wakes up only when a buffer is full.
void setPeriodMs(uint32_t ms);
size_t takeDropped();

}  // namespace cudasim::recorder
