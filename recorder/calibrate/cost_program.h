// How long calls take that Sonde records. The recorder has its own program do this, under another
// name, with Sonde's library in it and without; the difference is what recording a call costs
// (cost_loops.h). `sonde_begin` finds the recorder there, or nothing, as in any program.
#pragma once

namespace sonde::recorder {

// The name that the program has then; with arguments it is printCudaCosts() that it does.
inline constexpr const char* kCostProgram = "sonde-cost";

// To stdout, one line `probe|api|ns` for each kind of call. Ends the program when a call fails,
// or who started it is gone.
void printCosts();

}  // namespace sonde::recorder
