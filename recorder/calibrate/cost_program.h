// Times calls that Sonde records. The recorder runs its own program, under another name, with
// Sonde's library and without it; the difference is the cost of recording a call (cost_loops.h).
// `sonde_begin` finds the recorder there, or nothing, as in any program.
#pragma once

namespace sonde::recorder {

// The program's name for that. With arguments it runs printCudaCosts().
inline constexpr const char* kCostProgram = "sonde-cost";

// Prints one line `probe|api|ns` per kind of call to stdout. Ends the program if a call fails, or
// if the process that started it is gone.
void printCosts();

}  // namespace sonde::recorder
