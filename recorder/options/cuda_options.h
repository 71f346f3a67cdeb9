// How CUDA is recorded.
#pragma once

#include <string>

namespace sonde::recorder {

struct CudaOptions {
  std::string graphs = "graph";       // --cuda-graphs: or "node"
  std::string unifiedMemory = "off";  // --cuda-unified-memory: or "transfers", "faults"
  std::string counters = {};  // --counters: metrics as CUPTI names them, with commas between them
  bool flushes = false;       // what CUPTI has is wanted each second, for a flight recorder
};

}  // namespace sonde::recorder
