// One source of the sampler; each source has its own file. Used on the sampler's thread.
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

// Where the kernel's files are; tests use other folders.
struct Roots {
  std::filesystem::path proc = "/proc";
  std::filesystem::path sys = "/sys";
};

// All sources about the whole machine, including its GPUs.
std::vector<std::unique_ptr<Source>> machineSources(const Roots& roots);

}  // namespace sonde::recorder::system
