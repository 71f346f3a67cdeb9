// Makes the tracks of one process, or of one of its threads, for the sweep. At most one thread per
// process. Within engine/breakdown.
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
  bool atLaunch = true;  // device work belongs to the operation that launched it
  std::int64_t IterationSpan::*iterations = nullptr;  // field that distinguishes them, if any
  const correction::CorrectedTimes* times = nullptr;  // corrected times; nullptr: as recorded
  bool isLast = false;  // the events are not needed again; frees their memory on the way
};

// The whole process, from its begin to its end.
Tracks tracksOfProcess(ProcessEvents& process, TrackOptions options);
// One of its threads, from its first slice to its last. Empty if the thread has no slices.
Tracks tracksOfThread(ProcessEvents& process, HostThread& thread, TrackOptions options);

}  // namespace sonde::engine::breakdown
