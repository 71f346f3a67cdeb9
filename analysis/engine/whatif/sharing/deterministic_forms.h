// Which work on a device gives other results each time, and how much longer its deterministic form
// takes. By the names of PyTorch's operators and of kernels. Plain values; any thread.
//
// Source: the lists in the documentation of torch.use_deterministic_algorithms(), and cuDNN's list
// of algorithms that are not deterministic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sonde::engine::whatif {

enum class DeterministicForm : std::uint8_t {
  Same,            // it is deterministic now, as far as its name says
  Sorted,          // it adds or writes by index: the indices are sorted instead of atomic additions
  OtherAlgorithm,  // the backward pass of a convolution with atomic additions
  Unknown,         // such a pass, but its name does not say with which algorithm
  Missing,         // PyTorch has none: the operator ends with an error
};
inline constexpr std::size_t kDeterministicForms = 5;

// `op`: the innermost operator that launched the kernel, such as aten::index_add_; may be empty.
DeterministicForm deterministicFormOf(std::string_view op, std::string_view kernel);

// How many times as long the deterministic form takes, and the most that was measured.
struct SlowDown {
  double factor = 1;
  double most = 1;
};
SlowDown slowDownOf(DeterministicForm form) noexcept;

}  // namespace sonde::engine::whatif
