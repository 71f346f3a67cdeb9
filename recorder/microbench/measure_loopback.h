// Measures messages between two threads over TCP of this machine (127.0.0.1). Takes a second; it
// starts a thread and ends it.
#pragma once

#include "base/result.h"
#include "recorder/microbench/measured_time.h"

#include <chrono>
#include <cstdint>
#include <vector>

namespace sonde::recorder::microbench {

struct MeasuredMessage {
  std::int64_t bytes = 0;
  MeasuredTime time;  // one way: half of that to the other thread and back
};

// Messages of 64 bytes to 4 MiB. Io: the machine has no such sockets.
Result<std::vector<MeasuredMessage>> measureLoopback(std::chrono::nanoseconds budgetOfEach);

}  // namespace sonde::recorder::microbench
