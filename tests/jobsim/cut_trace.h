// Cuts a finished trace, as if its recording had ended with its job in the middle of something.
// Ends the program on errors, as tests do.
#pragma once

#include "tests/jobsim/job.h"

#include <string>

namespace sonde::jobsim {

// `ns`: of the hosts' clocks, which must agree. Removes what had not ended by then, and keeps the
// iterations that were open as open calls. The processes run.
void cutTrace(const std::string& path, Ns ns);

}  // namespace sonde::jobsim
