// A trace in the Trace Event Format, as chrome://tracing, Perfetto, TensorBoard and
// HolisticTraceAnalysis read it: torch.profiler's dialect, with what that cannot say in members
// that they pass over and `sonde import` reads (docs/cli/export.md).
//
// Source: "Trace Event Format" (Google, 2016).
#pragma once

#include "analysis/export/output_file.h"
#include "analysis/store/database.h"
#include "base/progress.h"
#include "base/result.h"

namespace sonde::exports {

// Times are microseconds after the file's baseTimeNanoseconds, with three decimals: exact.
Result<void> exportChrome(const store::Database& trace,
                          OutputFile& output,
                          const Progress& progress = {});

}  // namespace sonde::exports
