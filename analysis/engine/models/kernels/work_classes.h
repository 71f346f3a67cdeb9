// Which kind of mathematics a kernel or operator does, by its name. Plain values; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace sonde::engine::models {

enum class WorkClass : std::uint8_t {
  Matrix,     // products of matrices, convolutions, attention: bound by arithmetic
  Pointwise,  // each element by itself: bound by memory
  Other,      // reductions, normalisations, copies, …: bound by memory
};

// The libraries' names for kernels: cuBLAS, cuDNN, CUTLASS, Triton, PyTorch, rocBLAS and MIOpen.
WorkClass classOfKernel(std::string_view name);
// A kernel whose name says that it computes with numbers of two bytes or less.
bool isOfReducedPrecision(std::string_view kernel);
// The same of one byte or less.
bool isOfOneByte(std::string_view kernel);

// A kernel that only changes the order of a tensor's dimensions. Rows that are put into the order
// of experts are none.
bool convertsLayout(std::string_view kernel);

// PyTorch's names for operators, such as aten::mul and aten::relu_.
WorkClass classOfOperator(std::string_view name);

}  // namespace sonde::engine::models
