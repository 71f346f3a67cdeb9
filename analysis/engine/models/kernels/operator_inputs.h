// The inputs of a PyTorch operator: sizes and types, as torch.profiler and `sonde run
// --torch-operators shapes` write them. Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::models {

using Sizes = std::vector<std::int64_t>;

struct OperatorInput {
  std::vector<Sizes> tensors;  // of a list of tensors: several
  std::string type;            // such as "float"; "Scalar" and the like of what is no tensor
};

// `shapes` is a list such as [[16, 32], [], [[2], [3]]], and `types` one such as [float, Scalar]
// with or without quotation marks. nullopt: they are no lists, or one is longer than the other.
std::optional<std::vector<OperatorInput>> parseInputs(std::string_view shapes,
                                                      std::string_view types);

double elementsOf(const Sizes& sizes) noexcept;
// 0: no type of a tensor's elements.
double bytesOfType(std::string_view type) noexcept;

}  // namespace sonde::engine::models
