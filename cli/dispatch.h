// Turns a command line into a call of a verb's run(). Handles `--help`, `--version`, an unknown
// verb, and options that do not parse. Called once, on the main thread.
#pragma once

#include <string>
#include <vector>

namespace sonde::cli {

// `arguments` without the program's own name. Returns the exit status.
int dispatch(const std::vector<std::string>& arguments);

}  // namespace sonde::cli
