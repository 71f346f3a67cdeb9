// The `cuda` probe: CUPTI's activity records of this process, from cuInit on, until it ends or
// another tool wants CUPTI. CUPTI has room for one client: Sonde takes it only when nobody has, and
// gives it up completely, and for good, to whoever comes.
#pragma once

namespace sonde::preload::cuda {

// Called once, by the driver's cuInit. Says in the trace why it records nothing, if so.
void start() noexcept;

// Another tool is about to use CUPTI: what there is is stored, and CUPTI is left as it was found.
// `function`: of CUPTI, which it calls.
void handOver(const char* function) noexcept;

// A context is there: with the first the counting of unified memory begins, if asked for. A device
// or machine that cannot, and CUPTI in a container without nvidia-uvm-tools, refuses it; all else
// goes on.
void contextComes() noexcept;

// A context is about to go: all that CUPTI holds is stored. In a signal handler it is lost, and
// counted.
void flush() noexcept;
// The same, of a process that is about to end, or to become another program. False where nothing
// was stored: in a forked child, in a signal handler, and where nothing is recorded.
bool finish() noexcept;
// It goes on after all. Requires: a finish() of the caller's that was true.
void resume() noexcept;

}  // namespace sonde::preload::cuda
