// A trace in the Trace Event Format, for chrome://tracing, Perfetto, TensorBoard and
// HolisticTraceAnalysis. It uses torch.profiler's dialect; other facts go into members that these
// ignore and `sonde import` reads (docs/cli/export.md).
//
// Source: "Trace Event Format" (Google, 2016).
#pragma once

#include "analysis/export/output_file.h"
#include "analysis/store/database.h"
#include "base/progress.h"
#include "base/result.h"

namespace sonde::exports {

// Times are exact: microseconds after the file's baseTimeNanoseconds, with three decimals.
Result<void> exportChrome(const store::Database& trace,
                          OutputFile& output,
                          const Progress& progress = {});

}  // namespace sonde::exports
