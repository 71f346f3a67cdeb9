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

// The process is about to end: all that CUPTI holds is stored. Nothing in a forked child.
void flush() noexcept;

}  // namespace sonde::preload::cuda
