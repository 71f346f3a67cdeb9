// The rows of all tables that a recorder or an importer fills. Plain values; any thread.
#pragma once

#include "analysis/model/account.h"
#include "analysis/model/code.h"
#include "analysis/model/device_work.h"
#include "analysis/model/event.h"
#include "analysis/model/place.h"
#include "analysis/model/row.h"

// In the order in which a commit stores them.
#define SONDE_ROWS(ROW)                                                                           \
  ROW(Meta)                                                                                       \
  ROW(String)                                                                                     \
  ROW(Host)                                                                                       \
  ROW(Process) ROW(Thread) ROW(Device) ROW(Stream) ROW(ClockSync) ROW(ClockMap) ROW(Mapping)      \
      ROW(Slice) ROW(Kernel) ROW(Copy) ROW(Sync) ROW(Arg) ROW(Link) ROW(Communicator)             \
          ROW(CommunicatorMember) ROW(Collective) ROW(Channel) ROW(Transfer) ROW(Iteration)       \
              ROW(Scalar) ROW(Tensor) ROW(Counter) ROW(Sample) ROW(Frame) ROW(Stack)              \
                  ROW(StackSample) ROW(Allocation) ROW(DeviceMetric) ROW(FileAccess) ROW(Handoff) \
                      ROW(Overhead) ROW(OverheadCovariance) ROW(ProbeCall) ROW(Loss) ROW(Note)    \
                          ROW(Ingested) ROW(OpenScope) ROW(OpenCall)
