// How many files the recorder may have open: one for each process that it records. Plain functions;
// the limit is the whole process's.
#pragma once

namespace sonde::launcher {

// Lets this process, and whatever it forks from then on, open as many files as it ever may (the
// hard limit of RLIMIT_NOFILE). What it has forked before keeps its own limit.
void raiseDescriptorLimit() noexcept;

// Whether so few files can be opened any more that they are left to what passes: the trace's own,
// /proc, the listing of a folder.
bool descriptorsAreScarce() noexcept;

// Whether a system call failed with this errno because files or memory ran out, here or in the
// whole system: the same call may succeed later.
bool isPassing(int error) noexcept;

}  // namespace sonde::launcher
