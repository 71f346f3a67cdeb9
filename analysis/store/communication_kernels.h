// Recognises the kernels of a trace that communicate: by model::isCommunicationKernel(), and by the
// user's patterns from the import or for this connection. Plain values once read; any thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace sonde::store {

class CommunicationKernels {
 public:
  static Result<CommunicationKernels> read(const Database& trace);

  // Matches the kernel's whole name, or its function's. The caller checks whether a collective
  // refers to the kernel.
  bool holds(std::string_view kernelName) const;

 private:
  std::vector<std::string> patterns_;
};

// For all readers of the trace on this connection.
Result<void> addCommunicationPatterns(Database& trace, const std::vector<std::string>& patterns);

// Prefix of the keys of `meta` rows with patterns from the import.
inline constexpr std::string_view kCommunicationMeta = "communication:";

}  // namespace sonde::store
