#include "session/machine.h"

#include <fstream>

namespace sonde::session {

std::string cpuModel() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2);
  }
  return {};
}

}  // namespace sonde::session
