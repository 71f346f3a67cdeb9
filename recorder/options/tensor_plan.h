// What --tensors asks for: which tensors are looked at, and in which iterations. Plain functions;
// any thread.
#pragma once

#include "base/result.h"

#include <string>

namespace sonde::recorder {

// The plan that `text` is, of the file at `path` (docs/probes/tensor.md has its keys), as JSON that
// hooks/tensor_plan.py understands. What is wrong with the file is an error with its place. Regular
// expressions are Python's and are left to it.
Result<std::string> parseTensorPlan(const std::string& text, const std::string& path);
Result<std::string> readTensorPlan(const std::string& path);

}  // namespace sonde::recorder
