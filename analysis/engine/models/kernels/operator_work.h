// The arithmetic and the memory traffic of PyTorch's operators, by the sizes of their inputs. Plain
// values; any thread.
#pragma once

#include "analysis/engine/models/kernels/operator_inputs.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::models {

enum class KernelKind : std::uint8_t {
  Matrix,       // products of matrices
  Convolution,  // their backward parts, since a forward part does not record its result's size
  Attention,    // fused
  Memory,       // all others that are known: pointwise, norms, softmax, sums, copies, gathers
};
inline constexpr std::size_t kKernelKinds = 4;

const char* wordOf(KernelKind kind) noexcept;
std::optional<KernelKind> kernelKindOf(std::string_view word) noexcept;

struct OperatorWork {
  KernelKind kind = KernelKind::Memory;
  std::string op = {};      // such as "addmm"
  std::string type = {};    // of the first input's elements; of Memory: empty
  double flops = 0;         // a multiplication and an addition are two
  double bytes = 0;         // read and written, each input and the result once
  double sideElements = 0;  // of the right matrix of mm and addmm; 0: another operator
  double sideBytes = 0;
};

// nullopt: the operator is none of those that are known, or its inputs do not say how much it does.
//
// Sources: operations for each element are those of "Building a Performance Model for Deep Learning
// Recommendation Model Training on GPUs" (Lin et al., arXiv 2201.07821).
std::optional<OperatorWork> workOf(std::string_view name, const std::vector<OperatorInput>& inputs);

}  // namespace sonde::engine::models
