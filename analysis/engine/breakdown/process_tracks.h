// The tracks of one process, or of one of its threads, for the sweep. One thread for each process.
// Within engine/breakdown.
#pragma once

#include "analysis/engine/breakdown/labels.h"
#include "analysis/engine/breakdown/process_events.h"
#include "analysis/engine/breakdown/track.h"
#include "analysis/engine/correction/corrected_times.h"

#include <vector>

namespace sonde::engine::breakdown {

struct Tracks {
  std::vector<Track> tracks;
  Labels labels;
};

struct TrackOptions {
  bool atLaunch = true;  // what devices do belongs to the operation that launched it
  std::int64_t IterationSpan::*iterations = nullptr;  // what tells them apart; else nothing
  const correction::CorrectedTimes* times = nullptr;  // as they are to be; else as recorded
  bool isLast = false;  // the events are not needed again: their memory is given back on the way
};

// All of a process, from its begin to its end.
Tracks tracksOfProcess(ProcessEvents& process, TrackOptions options);
// Of one of its threads, from its first slice to its last; none of one without slices.
Tracks tracksOfThread(ProcessEvents& process, HostThread& thread, TrackOptions options);

}  // namespace sonde::engine::breakdown
