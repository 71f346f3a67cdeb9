#include "recorder/environment/machine.h"

#include <fstream>

namespace sonde::recorder {

// ARM processors have no name in this file, only numbers for maker, model and revision.
std::string cpuModel() {
  std::ifstream lines("/proc/cpuinfo");
  std::string numbers;
  for (std::string line; std::getline(lines, line) && !line.empty();) {  // of the first processor
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos)
      continue;
    if (line.starts_with("model name"))
      return line.substr(colon + 2);
    if (line.starts_with("CPU "))
      numbers += (numbers.empty() ? "" : " ") + line.substr(colon + 2);
  }
  return numbers;
}

}  // namespace sonde::recorder
