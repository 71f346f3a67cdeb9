#include "analysis/engine/models/kernels/work_classes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace sonde::engine::models {
namespace {

template <std::size_t n>
bool hasAny(std::string_view name, const std::array<std::string_view, n>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

std::string lower(std::string_view name) {
  std::string text(name);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return text;
}

// Those that occur inside of other words are checked in this order: a Triton kernel such as
// triton_poi_fused_convolution_relu_0 is pointwise.
constexpr std::array<std::string_view, 3> kTritonPointwise = {
    "triton_poi", "pointwise", "elementwise"};
constexpr std::array<std::string_view, 2> kTritonReductions = {"triton_red", "triton_per"};
constexpr std::array<std::string_view, 18> kMatrixKernels = {"gemm",
                                                             "gemv",
                                                             "conv",
                                                             "cutlass",
                                                             "xmma",
                                                             "wgrad",
                                                             "dgrad",
                                                             "fprop",
                                                             "winograd",
                                                             "flash",
                                                             "fmha",
                                                             "attn",
                                                             "attention",
                                                             "nvjet",
                                                             "cijk_",
                                                             "matmul",
                                                             "triton_tem",
                                                             "_mma_"};
constexpr std::array<std::string_view, 14> kReduced = {"h884",
                                                       "h1688",
                                                       "h16816",
                                                       "hgemm",
                                                       "bf16",
                                                       "fp16",
                                                       "f16",
                                                       "half",
                                                       "hhs_",
                                                       "hss_",
                                                       "bbs_",
                                                       "e4m3",
                                                       "e5m2",
                                                       "fp8"};

constexpr std::array<std::string_view, 4> kOneByte = {"e4m3", "e5m2", "fp8", "qmma"};
// cuDNN's, XLA's, MIOpen's and PyTorch's.
constexpr std::array<std::string_view, 6> kConversions = {
    "nchwtonhwc", "nhwctonchw", "transpose", "permute", "transformtensor", "tensor_reorder"};

constexpr std::array<std::string_view, 13> kMatrixOperators = {"mm",
                                                               "bmm",
                                                               "addmm",
                                                               "baddbmm",
                                                               "linear",
                                                               "matmul",
                                                               "convolution",
                                                               "conv1d",
                                                               "conv2d",
                                                               "conv3d",
                                                               "mkldnn_convolution",
                                                               "convolution_backward",
                                                               "scaled_dot_product_attention"};
constexpr std::array<std::string_view, 38> kPointwiseOperators = {"add",
                                                                  "sub",
                                                                  "mul",
                                                                  "div",
                                                                  "neg",
                                                                  "abs",
                                                                  "exp",
                                                                  "log",
                                                                  "sqrt",
                                                                  "rsqrt",
                                                                  "pow",
                                                                  "relu",
                                                                  "gelu",
                                                                  "silu",
                                                                  "sigmoid",
                                                                  "tanh",
                                                                  "leaky_relu",
                                                                  "elu",
                                                                  "hardtanh",
                                                                  "hardswish",
                                                                  "clamp",
                                                                  "clamp_min",
                                                                  "where",
                                                                  "addcmul",
                                                                  "addcdiv",
                                                                  "lerp",
                                                                  "dropout",
                                                                  "native_dropout",
                                                                  "bernoulli",
                                                                  "threshold",
                                                                  "threshold_backward",
                                                                  "gelu_backward",
                                                                  "silu_backward",
                                                                  "sigmoid_backward",
                                                                  "tanh_backward",
                                                                  "native_dropout_backward",
                                                                  "masked_fill",
                                                                  "reciprocal"};

// Without its library and the mark of an operator that works in place.
std::string_view plainOf(std::string_view name) {
  if (const std::size_t colons = name.rfind("::"); colons != std::string_view::npos)
    name.remove_prefix(colons + 2);
  if (name.ends_with('_'))
    name.remove_suffix(1);
  return name;
}

template <std::size_t n>
bool isOneOf(std::string_view name, const std::array<std::string_view, n>& all) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

}  // namespace

WorkClass classOfKernel(std::string_view name) {
  const std::string text = lower(name);
  if (hasAny(text, kTritonPointwise))
    return WorkClass::Pointwise;
  if (hasAny(text, kTritonReductions))
    return WorkClass::Other;
  return hasAny(text, kMatrixKernels) ? WorkClass::Matrix : WorkClass::Other;
}

bool isOfReducedPrecision(std::string_view kernel) {
  return hasAny(lower(kernel), kReduced);
}

bool isOfOneByte(std::string_view kernel) {
  return hasAny(lower(kernel), kOneByte);
}

bool convertsLayout(std::string_view kernel) {
  return classOfKernel(kernel) != WorkClass::Matrix && hasAny(lower(kernel), kConversions);
}

WorkClass classOfOperator(std::string_view name) {
  const std::string_view plain = plainOf(name);
  if (isOneOf(plain, kMatrixOperators))
    return WorkClass::Matrix;
  return isOneOf(plain, kPointwiseOperators) ? WorkClass::Pointwise : WorkClass::Other;
}

}  // namespace sonde::engine::models
