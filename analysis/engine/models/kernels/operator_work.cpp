#include "analysis/engine/models/kernels/operator_work.h"

#include "analysis/engine/models/kernels/work_classes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace sonde::engine::models {
namespace {

constexpr std::array<std::string_view, kKernelKinds> kKindWords = {
    "matrix", "convolution", "attention", "memory"};

// The result that an operator writes. It reads its inputs.
enum class Written : std::uint8_t { Nothing, LikeLargest, LikeFirst };

bool isTensor(const OperatorInput& input) {
  return bytesOfType(input.type) > 0;
}

double bytesOf(const OperatorInput& input) {
  double bytes = 0;
  for (const Sizes& each : input.tensors)
    bytes += elementsOf(each) * bytesOfType(input.type);
  return bytes;
}

double bytesOfAll(const std::vector<OperatorInput>& inputs) {
  double bytes = 0;
  for (const OperatorInput& each : inputs)
    bytes += bytesOf(each);
  return bytes;
}

// The sizes of an input that is one tensor of this many dimensions; nullptr: it is not.
const Sizes* sizesOf(const std::vector<OperatorInput>& inputs, std::size_t at, std::size_t dims) {
  if (at >= inputs.size() || !isTensor(inputs[at]) || inputs[at].tensors.size() != 1 ||
      inputs[at].tensors[0].size() != dims)
    return nullptr;
  return &inputs[at].tensors[0];
}

double asReal(std::int64_t size) {
  return static_cast<double>(size);
}

using Work = std::optional<OperatorWork>;

Work workWith(KernelKind kind,
              const std::vector<OperatorInput>& inputs,
              double flops,
              double written) {
  OperatorWork work{.kind = kind, .flops = flops, .bytes = bytesOfAll(inputs) + written};
  if (kind != KernelKind::Memory)
    work.type = inputs.front().type;
  return work.bytes > 0 ? Work(work) : std::nullopt;
}

// Products of matrices: which input is the left side, and how many dimensions both have.
struct Product {
  std::string_view name;
  std::size_t left;
  std::size_t leftDims;
  std::size_t rightDims;
};
constexpr std::array kProducts = {Product{"mm", 0, 2, 2},
                                  Product{"addmm", 1, 2, 2},
                                  Product{"bmm", 0, 3, 3},
                                  Product{"baddbmm", 1, 3, 3},
                                  Product{"mv", 0, 2, 1},
                                  Product{"addmv", 1, 2, 1}};

Work productWork(const Product& of, const std::vector<OperatorInput>& inputs) {
  const Sizes* left = sizesOf(inputs, of.left, of.leftDims);
  const Sizes* right = sizesOf(inputs, of.left + 1, of.rightDims);
  if (left == nullptr || right == nullptr)
    return std::nullopt;
  const double columns = of.rightDims == 1 ? 1 : asReal(right->back());
  const double result = elementsOf(*left) / std::max(asReal(left->back()), 1.0) * columns;
  Work work = workWith(KernelKind::Matrix,
                       inputs,
                       2 * elementsOf(*left) * columns,
                       result * bytesOfType(inputs[of.left].type));
  if (work && of.leftDims == 2 && of.rightDims == 2) {
    work->sideElements = elementsOf(*right);
    work->sideBytes = bytesOf(inputs[of.left + 1]);
  }
  return work;
}

// Both gradients; a transposed convolution's weight begins with the channels of its input.
Work convolutionWork(const std::vector<OperatorInput>& inputs) {
  if (inputs.size() < 3 || !std::all_of(inputs.begin(), inputs.begin() + 3, [](const auto& each) {
        return isTensor(each) && each.tensors.size() == 1 && each.tensors[0].size() >= 3;
      }))
    return std::nullopt;
  const Sizes& grad = inputs[0].tensors[0];
  const Sizes& input = inputs[1].tensors[0];
  const Sizes& weight = inputs[2].tensors[0];
  if (weight[0] <= 0)
    return std::nullopt;
  const double places = elementsOf(input[1] == weight[0] && grad[1] != weight[0] ? input : grad);
  return workWith(KernelKind::Convolution,
                  inputs,
                  4 * places * elementsOf(weight) / asReal(weight[0]),
                  bytesOf(inputs[1]) + bytesOf(inputs[2]));
}

// Inputs are [batch, length, heads, depth]; for the operators of _scaled_dot_product_attention
// [batch, heads, length, depth].
Work attentionWork(std::string_view name, const std::vector<OperatorInput>& inputs) {
  const bool isBackward = name.find("backward") != std::string_view::npos;
  const bool isScaled = name.starts_with("_scaled_dot_product");
  const std::size_t first = isBackward ? 1 : 0;
  const Sizes* query = sizesOf(inputs, first, 4);
  const Sizes* key = sizesOf(inputs, first + 1, 4);
  const Sizes* value = sizesOf(inputs, first + 2, 4);
  if (query == nullptr || key == nullptr || value == nullptr)
    return std::nullopt;
  const std::size_t length = isScaled ? 2 : 1;
  const double pairs = elementsOf({(*query)[0], (*query)[1], (*query)[2], (*key)[length]});
  const double depth = isBackward ? 3 * asReal((*query)[3]) + 2 * asReal((*value)[3])
                                  : asReal((*query)[3]) + asReal((*value)[3]);
  const double written = bytesOf(inputs[first]) + (isBackward ? bytesOf(inputs[first + 1]) * 2 : 0);
  return workWith(KernelKind::Attention, inputs, 2 * pairs * depth, written);
}

// Rows of a table, by their indices. `index` is the input that has these.
Work gatherWork(const std::vector<OperatorInput>& inputs, std::size_t index) {
  if (index >= inputs.size() || !isTensor(inputs[0]) || !isTensor(inputs[index]) ||
      inputs[0].tensors.size() != 1 || inputs[0].tensors[0].empty() || inputs[0].tensors[0][0] <= 0)
    return std::nullopt;
  double rows = 0;
  for (const Sizes& each : inputs[index].tensors)
    rows += elementsOf(each);
  const double row = bytesOf(inputs[0]) / asReal(inputs[0].tensors[0][0]);
  return OperatorWork{.bytes = 2 * rows * row + bytesOf(inputs[index])};
}

struct MemoryRule {
  std::string_view name;
  Written result;
};
using enum Written;
constexpr std::array kMemoryRules = {MemoryRule{"copy", Nothing},
                                     MemoryRule{"fill", Nothing},
                                     MemoryRule{"zero", Nothing},
                                     MemoryRule{"sum", Nothing},
                                     MemoryRule{"mean", Nothing},
                                     MemoryRule{"all", Nothing},
                                     MemoryRule{"any", Nothing},
                                     MemoryRule{"max", Nothing},
                                     MemoryRule{"min", Nothing},
                                     MemoryRule{"amax", Nothing},
                                     MemoryRule{"norm", Nothing},
                                     MemoryRule{"linalg_vector_norm", Nothing},
                                     MemoryRule{"native_layer_norm", LikeFirst},
                                     MemoryRule{"native_layer_norm_backward", LikeFirst},
                                     MemoryRule{"native_batch_norm", LikeFirst},
                                     MemoryRule{"native_batch_norm_backward", LikeFirst},
                                     MemoryRule{"cudnn_batch_norm", LikeFirst},
                                     MemoryRule{"cudnn_batch_norm_backward", LikeFirst},
                                     MemoryRule{"miopen_batch_norm", LikeFirst},
                                     MemoryRule{"miopen_batch_norm_backward", LikeFirst},
                                     MemoryRule{"native_group_norm", LikeFirst},
                                     MemoryRule{"_softmax", LikeFirst},
                                     MemoryRule{"_softmax_backward_data", LikeFirst},
                                     MemoryRule{"_log_softmax", LikeFirst},
                                     MemoryRule{"_log_softmax_backward_data", LikeFirst},
                                     MemoryRule{"cat", LikeFirst},
                                     MemoryRule{"eq", LikeLargest},
                                     MemoryRule{"ne", LikeLargest},
                                     MemoryRule{"gt", LikeLargest},
                                     MemoryRule{"lt", LikeLargest},
                                     MemoryRule{"sin", LikeLargest},
                                     MemoryRule{"cos", LikeLargest},
                                     MemoryRule{"rsub", LikeLargest},
                                     MemoryRule{"maximum", LikeLargest},
                                     MemoryRule{"minimum", LikeLargest},
                                     MemoryRule{"clamp_max", LikeLargest}};

constexpr std::array<std::pair<std::string_view, double>, 7> kFlopsOfElements = {
    {{"gelu", 175},
     {"gelu_backward", 175},
     {"_softmax", 174},
     {"_softmax_backward_data", 174},
     {"tanh", 180},
     {"_log_softmax", 174},
     {"_log_softmax_backward_data", 174}}};

Work memoryWork(std::string_view name, const std::vector<OperatorInput>& inputs, Written result) {
  double largest = 0;
  double elements = 0;
  for (const OperatorInput& each : inputs)
    if (isTensor(each)) {
      largest = std::max(largest, bytesOf(each));
      for (const Sizes& sizes : each.tensors)
        elements = std::max(elements, elementsOf(sizes));
    }
  const double written = result == Nothing       ? 0
                         : result == LikeLargest ? largest
                         : inputs.empty()        ? 0
                                                 : bytesOf(inputs.front());
  const auto flops = std::find_if(kFlopsOfElements.begin(),
                                  kFlopsOfElements.end(),
                                  [name](const auto& each) { return each.first == name; });
  return workWith(KernelKind::Memory,
                  inputs,
                  elements * (flops == kFlopsOfElements.end() ? 1 : flops->second),
                  written);
}

Work plainWork(std::string_view name, bool isPointwise, const std::vector<OperatorInput>& inputs) {
  for (const Product& each : kProducts)
    if (each.name == name)
      return productWork(each, inputs);
  if (name == "convolution_backward")
    return convolutionWork(inputs);
  if (name.find("attention") != std::string_view::npos && name.starts_with('_'))
    return attentionWork(name, inputs);
  if (name == "embedding" || name == "_embedding_bag")
    return gatherWork(inputs, 1);
  if (name == "index_select")
    return gatherWork(inputs, 2);
  for (const MemoryRule& each : kMemoryRules)
    if (each.name == name)
      return memoryWork(name, inputs, each.result);
  return isPointwise ? memoryWork(name, inputs, LikeLargest) : std::nullopt;
}

}  // namespace

const char* wordOf(KernelKind kind) noexcept {
  return kKindWords.at(static_cast<std::size_t>(kind)).data();
}

std::optional<KernelKind> kernelKindOf(std::string_view word) noexcept {
  const auto* found = std::find(kKindWords.begin(), kKindWords.end(), word);
  if (found == kKindWords.end())
    return std::nullopt;
  return static_cast<KernelKind>(found - kKindWords.begin());
}

std::optional<OperatorWork> workOf(std::string_view name,
                                   const std::vector<OperatorInput>& inputs) {
  constexpr std::string_view kLibrary = "aten::";
  if (!name.starts_with(kLibrary))
    return std::nullopt;
  const bool isPointwise = classOfOperator(name) == WorkClass::Pointwise;
  name.remove_prefix(kLibrary.size());
  if (name.ends_with('_'))
    name.remove_suffix(1);
  Work work = plainWork(name, isPointwise, inputs);
  if (work)
    work->op = name;
  return work;
}

}  // namespace sonde::engine::models
