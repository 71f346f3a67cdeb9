// Runs a pickle, which is a program for a stack machine, restricted to plain data: each opcode is a
// function in a table. A free function; any thread.
#pragma once

#include "analysis/ingest/pickle/value_tree.h"
#include "base/result.h"

#include <string>

namespace sonde::ingest {

// Runs `tree.content()` up to STOP, and makes the last value the tree's root. `file`: for errors,
// which are those of readPickle().
Result<void> runPickle(ValueTree& tree, std::string file);

}  // namespace sonde::ingest
