// One thing that the sampler reads: each source is a file of its own. Used on the sampler's thread.
#pragma once

#include "recorder/system/readings.h"

#include <filesystem>
#include <memory>
#include <vector>

namespace sonde::recorder::system {

class Source {
 public:
  Source() = default;
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  virtual void sample(Readings& into) = 0;
};

// Where the kernel's files are; tests have their own.
struct Roots {
  std::filesystem::path proc = "/proc";
  std::filesystem::path sys = "/sys";
};

// Everything that tells of the whole machine, its GPUs included.
std::vector<std::unique_ptr<Source>> machineSources(const Roots& roots);

}  // namespace sonde::recorder::system
