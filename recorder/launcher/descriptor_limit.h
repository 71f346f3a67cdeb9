// The number of files that the recorder may have open: it needs one per process that it records.
// Plain functions; the limit applies to the whole process.
#pragma once

namespace sonde::launcher {

// Raises this process's limit to the hard limit of RLIMIT_NOFILE; processes that it forks later
// inherit it. Children forked earlier keep their own limit.
void raiseDescriptorLimit() noexcept;

// Whether the few remaining descriptors should be left for short uses: the trace's own, /proc, the
// listing of a folder.
bool descriptorsAreScarce() noexcept;

// Whether a system call failed with this errno because files or memory ran out, in this process or
// the whole system. The same call may succeed later.
bool isPassing(int error) noexcept;

}  // namespace sonde::launcher
