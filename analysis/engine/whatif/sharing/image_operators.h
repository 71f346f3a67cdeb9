// The operators of a trace that work on images, by the recorded sizes of their inputs. Uses the
// database's thread while it reads; then plain values.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <unordered_map>

namespace sonde::engine::whatif {

// An image is a tensor [samples, channels, rows, …]: 2-D or 3-D, divided along its first extent.
struct ImageOperator {
  std::int64_t slice = 0;
  std::int64_t threadId = 0;
  std::int64_t parentId = 0;  // 0: none
  std::int64_t startNs = 0;   // of its host
  std::int64_t durNs = 0;
  std::int64_t rows = 0;
  double rowBytes = 0;  // of a row of all samples and channels
  bool isConvolution = false;
  std::int64_t kernelRows = 0;  // of a convolution; 0: not recorded
};

struct ImageOperators {
  std::unordered_map<std::int64_t, ImageOperator> bySlice;
  std::int64_t convolutions = 0;  // of them
  std::int64_t withSizes = 0;     // operators with recorded sizes, images or not
};

// Tensors of the sizes of a convolution's weights are no images, nor are the inputs of softmax,
// attention and products of matrices.
Result<ImageOperators> readImageOperators(const store::Database& trace);

}  // namespace sonde::engine::whatif
