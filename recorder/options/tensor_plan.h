// The plan of --tensors: which tensors are examined, and in which iterations. Plain functions; any
// thread.
#pragma once

#include "base/result.h"

#include <string>

namespace sonde::recorder {

// Parses the plan in `text`, from the file at `path` (docs/probes/tensor.md lists its keys), to
// JSON for hooks/tensor_plan.py. An error names the place in the file. Regular expressions are
// Python's and not checked here.
Result<std::string> parseTensorPlan(const std::string& text, const std::string& path);
Result<std::string> readTensorPlan(const std::string& path);

}  // namespace sonde::recorder
