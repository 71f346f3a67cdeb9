// Runs this program once more, for work that may crash or never end. A plain function; any thread.
#pragma once

#include "base/result.h"

#include <chrono>
#include <string>
#include <string_view>

namespace sonde::rules {

// Returns the output of a program of that name (argv[0]), given `input`. It is killed after
// `limit`. InvalidArgument: a signal ended it, it failed, or it took longer; the message says
// which. Io: it could not be started.
Result<std::string> runOwnProgram(const char* name,
                                  std::string_view input,
                                  std::chrono::milliseconds limit);

}  // namespace sonde::rules
