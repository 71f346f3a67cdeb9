// Spool files written down as text, for golden cases: a line is a record, a definition or a fact
// about the process. Words are separated by spaces; "…" holds one with spaces; # begins a comment.
// Times are ns of CLOCK_MONOTONIC, or ticks where the image's clock is the TSC.
//
//   image PID EXEC-COUNT START-NS [START-TICKS]   what follows is of this image; with ticks: TSC
//   parent PID
//   rank RANK WORLD-SIZE
//   exited STATUS  |  killed SIGNAL
//   recorder TICKS NS                             the recorder's own reading of the clocks
//   thread T TID [NAME]                           T, the first word from here on: the thread
//   slot T TICKS                                  the thread goes on in another slot
//   begin T KIND NAME TICKS  |  end T NAME TICKS  end: of the innermost open one of that name
//   end_lost T NAME                               it ends, too, but no record says so
//   arg T NAME KEY NUMBER                         of that open scope; "-": of the record before
//   call T KIND NAME BEGIN END
//   range T ID NAME TICKS  |  range_end T ID TICKS
//   mark T NAME TICKS  |  scalar T NAME VALUE TICKS  |  work T SAMPLES TOKENS FLOPS TICKS
//   communicator KEY POSITION RANK…
//   collective T KEY OP SEQUENCE BYTES BEGIN END
//   channel KIND LOCAL REMOTE
//   transfer T LOCAL send|receive OFFSET BYTES BEGIN END [inexact]
//   sync T TICKS NS  |  fork T CHILD-PID TICKS  |  exec T PATH TICKS
//   lost PROBE RECORD REASON COUNT
#pragma once

#include "base/result.h"
#include "recorder/drain/drainer.h"
#include "tests/support/spool_builder.h"

#include <string>
#include <vector>

namespace sonde::test {

struct ScriptedRun {
  std::vector<SpoolBuilder> images;
  std::vector<recorder::ProcessFacts> facts;
  recorder::ClockTriple recorder{1'000'000'000, 1'000'000'000, 1'000'000'000};
};

// The error names the line.
Result<ScriptedRun> parseSpoolScript(const std::string& text);

}  // namespace sonde::test
