// What NVIDIA's management library says of every GPU of the machine: how busy it is, its memory,
// power, energy, clocks and what holds them back, temperature, traffic over NVLink and PCIe, and
// errors of its memory. The library is looked for when the program starts, and not needed. What a
// GPU does not tell has no counter.
#pragma once

#include "recorder/system/source.h"

#include <memory>

namespace sonde::recorder::system {

// Nothing where there is no such library, or no GPU that it may look at.
std::unique_ptr<Source> openNvml();

// Why openNvml() gives nothing; empty: it does not.
std::string whyNoNvml();

}  // namespace sonde::recorder::system
