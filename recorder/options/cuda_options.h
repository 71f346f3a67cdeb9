// How CUDA is recorded.
#pragma once

#include <string>

namespace sonde::recorder {

struct CudaOptions {
  std::string graphs = "graph";       // --cuda-graphs: or "node"
  std::string unifiedMemory = "off";  // --cuda-unified-memory: or "transfers", "faults"
  std::string counters = {};          // --counters: CUPTI's metric names, comma-separated
  bool flushes = false;               // flush CUPTI each second, for a flight recorder
};

}  // namespace sonde::recorder
