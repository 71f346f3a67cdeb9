// A small trace of two ranks with a row in every table that recordings fill.
#pragma once

#include "analysis/store/trace_writer.h"

namespace sonde::store {

// Fills `writer`'s trace. Each of two processes has a main thread with `iterations` iterations of 1
// ms (forward, backward, optimizer inside), an autograd thread with an api slice in each backward,
// an allreduce of 4096 bytes and its bytes on a TCP channel between the two. Requires: no
// transaction is open.
Result<void> writeSample(TraceWriter& writer, int iterations);

}  // namespace sonde::store
