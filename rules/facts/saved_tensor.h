// Reads a whole tensor that `save = true` has written beside the trace. Plain function; any thread.
#pragma once

#include "base/result.h"
#include "rules/facts/tensor_facts.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace sonde::rules {

struct SavedTensor {
  std::vector<std::int64_t> shape;
  std::vector<double> values;  // row by row
};

// The elements of `fact`, from its file in NumPy's format (numpy.lib.format, version 1) in or below
// `folder`: booleans, integers, half, bfloat16, float and double. InvalidArgument: it has no file,
// or the file is outside `folder`. Io, Corrupt: the file cannot be read, or holds another tensor.
// Unsupported: another type, or more than 64 Mi elements. Messages name the file and what to do.
Result<SavedTensor> readSavedTensor(const std::filesystem::path& folder, const TensorFact& fact);

}  // namespace sonde::rules
