// The `cuda` probe: records CUPTI's activity records of this process, from cuInit until the process
// ends or another tool uses CUPTI. CUPTI serves one client. Sonde takes it only if no other client
// has it, and gives it up completely and permanently as soon as one comes.
#pragma once

namespace sonde::preload::cuda {

// Called once, by the driver's cuInit. If it records nothing, it reports the reason in the trace.
void start() noexcept;

// Another tool is about to use CUPTI: stores all pending records and leaves CUPTI as it was found.
// `function`: the function of CUPTI that the tool calls.
void handOver(const char* function) noexcept;

// A context was created. The first one starts the counting of unified memory, if requested. Some
// devices and machines, and CUPTI in a container without nvidia-uvm-tools, refuse that; everything
// else continues.
void contextComes() noexcept;

// A context is about to be destroyed: stores all records that CUPTI holds. In a signal handler they
// are lost, and counted.
void flush() noexcept;
// The same for a process that is about to end or exec. Returns false if nothing was stored: in a
// forked child, in a signal handler, or if nothing is recorded.
bool finish() noexcept;
// The process continues after all. Requires: the caller's finish() returned true.
void resume() noexcept;

}  // namespace sonde::preload::cuda
