// Facts about this machine. Plain functions; any thread.
#pragma once

#include <string>

namespace sonde::recorder {

// The kernel's name for the first processor; empty if it has none.
std::string cpuModel();

}  // namespace sonde::recorder
