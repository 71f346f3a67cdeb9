// /sys/class/powercap: the energy that processors and memory have used (RAPL). On most systems only
// root may read it.
#pragma once

#include "recorder/system/kernel_file.h"
#include "recorder/system/source.h"

#include <cstdint>
#include <vector>

namespace sonde::recorder::system {

class EnergySource final : public Source {
 public:
  explicit EnergySource(const Roots& roots);
  void sample(Readings& into) override;

  bool isEmpty() const noexcept { return zones_.empty(); }

 private:
  struct Zone {
    std::string name;
    KernelFile file;
    std::uint64_t range = 0;  // of the counter, in microjoules; it then restarts at 0
    std::uint64_t last = 0;
    double joules = 0;
    bool isDefined = false;
    std::size_t metric = 0;
  };
  std::vector<Zone> zones_;
};

}  // namespace sonde::recorder::system
