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
                                                             "bmm_",
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
constexpr std::array<std::string_view, 9> kTwoBytes = {
    "h884", "h1688", "h16816", "hgemm", "bfloat16", "fp16", "f16", "half", "opaquetype<2"};
constexpr std::array<std::string_view, 5> kOneByte = {"e4m3", "e5m2", "e2m1", "fp8", "qmma"};
// cuDNN's, XLA's, MIOpen's and PyTorch's.
constexpr std::array<std::string_view, 5> kConversions = {
    "nchwtonhwc", "nhwctonchw", "transpose", "transformtensor", "tensor_reorder"};
// Transformer Engine's transposed copies, which products of one-byte numbers need, rows that are
// sorted by experts, and Triton's kernels, which are fused with other work.
constexpr std::array<std::string_view, 6> kNoConversions = {
    "cast_transpose", "transformer_engine", "moe", "token", "expert", "triton_"};

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

// The rest of a name behind a prefix; empty: it has none.
std::string_view behind(std::string_view name, std::string_view prefix) {
  const std::size_t at = name.find(prefix);
  return at == std::string_view::npos ? std::string_view() : name.substr(at + prefix.size());
}

std::string_view behindWord(std::string_view name) {
  return name.substr(std::min(name.find('_'), name.size() - 1) + 1);
}

// The bytes of the numbers that are multiplied, where a library writes the type into the names of
// its products: cuBLAS as in nvjet_tst_… and nvjet_sm100_qqtst_…, rocBLAS and hipBLASLt as in
// Cijk_Alik_Bljk_BSS_…, behind the indices of both matrices. 0: the name has no such type.
int bytesByLetter(std::string_view name) {
  if (std::string_view types = behind(name, "nvjet_"); !types.empty()) {
    if (types.starts_with("sm"))
      types = behindWord(types);
    if (types.starts_with('t') || types.starts_with('h'))
      return 2;
    return types.starts_with('q') || types.starts_with('o') ? 1 : 0;
  }
  std::string_view types = behind(name, "cijk_");
  for (int matrix = 0; matrix < 2 && !types.empty(); ++matrix)
    types = behindWord(types);
  if (types.starts_with("f8") || types.starts_with("b8"))
    return 1;
  return types.starts_with('b') || types.starts_with('h') ? 2 : 0;
}

// XLA's loop_convert_fusion and other conversions are none.
bool hasConvolution(std::string_view name) {
  constexpr std::string_view kWord = "conv";
  for (std::size_t at = name.find(kWord); at != std::string_view::npos; at = name.find(kWord, at)) {
    at += kWord.size();
    if (!name.substr(at).starts_with("er"))
      return true;
  }
  return false;
}

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
  const bool isMatrix = hasAny(text, kMatrixKernels) || hasConvolution(text);
  return isMatrix ? WorkClass::Matrix : WorkClass::Other;
}

bool isOfReducedPrecision(std::string_view kernel) {
  const std::string text = lower(kernel);
  return bytesByLetter(text) > 0 || hasAny(text, kTwoBytes) || hasAny(text, kOneByte);
}

bool isOfOneByte(std::string_view kernel) {
  const std::string text = lower(kernel);
  return bytesByLetter(text) == 1 || hasAny(text, kOneByte);
}

bool convertsLayout(std::string_view kernel) {
  const std::string text = lower(kernel);
  return classOfKernel(text) != WorkClass::Matrix && hasAny(text, kConversions) &&
         !hasAny(text, kNoConversions);
}

WorkClass classOfOperator(std::string_view name) {
  const std::string_view plain = plainOf(name);
  if (isOneOf(plain, kMatrixOperators))
    return WorkClass::Matrix;
  return isOneOf(plain, kPointwiseOperators) ? WorkClass::Pointwise : WorkClass::Other;
}

}  // namespace sonde::engine::models
