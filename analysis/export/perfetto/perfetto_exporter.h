// A trace in Perfetto's own format, for https://ui.perfetto.dev and trace_processor.
//
// Source: perfetto.dev/docs/reference/synthetic-track-event; the format is
// third_party/perfetto/perfetto_trace.proto.
#pragma once

#include "analysis/export/output_file.h"
#include "analysis/export/timeline.h"
#include "analysis/store/database.h"
#include "base/progress.h"
#include "base/result.h"

#include <vector>

namespace sonde::exports {

// Times are nanoseconds of the job's common clock. If that begins below 0, they count from its
// origin, since the format has no negative times. `path`, if there is any, becomes a track in a
// process of its own; by lane, then by start.
Result<void> exportPerfetto(const store::Database& trace,
                            OutputFile& output,
                            const Progress& progress = {},
                            const std::vector<PathSpan>& path = {});

}  // namespace sonde::exports
