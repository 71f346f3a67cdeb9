// Which kernels of a trace communicate: by model::isCommunicationKernel(), and by the patterns that
// its user gave, at its import or for this look at it. Plain values once read; any thread.
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

  // By the whole name of the kernel, or that of its function. That a collective names a kernel as
  // its own is for the caller to see.
  bool holds(std::string_view kernelName) const;

 private:
  std::vector<std::string> patterns_;
};

// For whoever reads the trace by this connection.
Result<void> addCommunicationPatterns(Database& trace, const std::vector<std::string>& patterns);

// Rows of `meta` whose keys begin so name patterns that the trace was imported with.
inline constexpr std::string_view kCommunicationMeta = "communication:";

}  // namespace sonde::store
