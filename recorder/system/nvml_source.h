// Facts from NVIDIA's management library about every GPU of the machine: load, memory, power,
// energy, clocks and their throttling, temperature, NVLink and PCIe traffic, and memory errors. The
// library is looked up when the program starts and is optional. A value that a GPU does not report
// has no counter.
#pragma once

#include "recorder/system/source.h"

#include <memory>

namespace sonde::recorder::system {

// nullptr if there is no such library, or no GPU that it can access.
std::unique_ptr<Source> openNvml();

// Why openNvml() returns nullptr; empty: it does not.
std::string whyNoNvml();

}  // namespace sonde::recorder::system
