// What this machine is. Plain functions; any thread.
#pragma once

#include <string>

namespace sonde::recorder {

// As the kernel names the first processor; empty where it does not.
std::string cpuModel();

}  // namespace sonde::recorder
