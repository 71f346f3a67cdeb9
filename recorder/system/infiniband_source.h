// The traffic of the ports of InfiniBand and RoCE adapters that bypasses the kernel's network
// interfaces: /sys/class/infiniband/ADAPTER/ports/PORT/counters.
#pragma once

#include "recorder/system/kernel_file.h"
#include "recorder/system/source.h"

#include <string>
#include <vector>

namespace sonde::recorder::system {

class InfinibandSource final : public Source {
 public:
  explicit InfinibandSource(const Roots& roots);
  void sample(Readings& into) override;

 private:
  struct Port {
    std::string name;  // "network ADAPTER port PORT"
    KernelFile received;
    KernelFile sent;
    bool isDefined = false;
    std::size_t receivedMetric = 0;
    std::size_t sentMetric = 0;
  };

  std::vector<Port> ports_;
};

}  // namespace sonde::recorder::system
