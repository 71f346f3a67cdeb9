#include "analysis/engine/whatif/sharing/deterministic_forms.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace sonde::engine::whatif {
namespace {

using Words = std::string_view;

// Their deterministic forms go through index_put with sorted indices.
constexpr std::array<Words, 6> kSortedOperators = {"index_add",
                                                   "index_copy",
                                                   "scatter",
                                                   "scatter_add",
                                                   "scatter_reduce",
                                                   "replication_pad2d_backward"};
constexpr std::array<Words, 4> kSortedKernels = {"indexfuncsmallindex",
                                                 "indexfunclargeindex",
                                                 "index_put_kernel_impl",
                                                 "index_copy_kernel_impl"};

constexpr std::array<Words, 15> kMissingOperators = {"histc",
                                                     "bincount",
                                                     "kthvalue",
                                                     "median",
                                                     "put",
                                                     "cumsum",
                                                     "avg_pool3d_backward",
                                                     "adaptive_avg_pool2d_backward",
                                                     "adaptive_avg_pool3d_backward",
                                                     "max_pool3d_with_indices_backward",
                                                     "adaptive_max_pool2d_backward",
                                                     "grid_sampler_2d_backward",
                                                     "grid_sampler_3d_backward",
                                                     "nll_loss2d_forward",
                                                     "ctc_loss_backward"};
constexpr std::array<Words, 9> kMissingKernels = {"kernelhistogram1d",
                                                  "avg_pool3d_backward",
                                                  "atomic_adaptive_average_gradinput",
                                                  "grid_sampler_2d_backward",
                                                  "grid_sampler_3d_backward",
                                                  "reflection_pad2d_backward",
                                                  "upsample_bilinear2d_backward",
                                                  "upsample_trilinear3d_backward",
                                                  "ctc_loss_backward"};

// CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 and CUDNN_CONVOLUTION_BWD_DATA_ALGO_0.
constexpr std::array<Words, 2> kAtomicConvolutions = {"wgrad_alg0_engine", "dgrad_engine"};
constexpr std::array<Words, 6> kDeterministicConvolutions = {
    "alg1", "winograd", "fft", "offsets", "nchwtonhwc", "nhwctonchw"};
constexpr std::array<Words, 2> kBackwardConvolutions = {"wgrad", "dgrad"};
constexpr std::array<Words, 4> kConvolutionOperators = {"convolution_backward",
                                                        "cudnn_convolution_backward",
                                                        "cudnn_convolution_backward_input",
                                                        "cudnn_convolution_backward_weight"};

template <std::size_t n>
bool hasAnyOf(std::string_view text, const std::array<Words, n>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

template <std::size_t n>
bool isAnyOf(std::string_view text, const std::array<Words, n>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// Without its library and the mark of an operator that works in place.
std::string_view plainName(std::string_view op) {
  if (const std::size_t colons = op.rfind("::"); colons != std::string_view::npos)
    op.remove_prefix(colons + 2);
  if (op.starts_with('_'))
    op.remove_prefix(1);
  if (op.ends_with('_'))
    op.remove_suffix(1);
  return op;
}

// Its template argument says that it scatters; with false it gathers.
bool isScatter(std::string_view kernel) {
  return kernel.find("scatter_gather") != std::string_view::npos &&
         kernel.find("_internal_kernel<true") != std::string_view::npos;
}

}  // namespace

DeterministicForm deterministicFormOf(std::string_view op, std::string_view kernel) {
  std::string text(kernel);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  const std::string_view plain = plainName(op);
  if (isAnyOf(plain, kMissingOperators) || hasAnyOf(text, kMissingKernels))
    return DeterministicForm::Missing;
  if (hasAnyOf(text, kAtomicConvolutions))
    return DeterministicForm::OtherAlgorithm;
  if (isAnyOf(plain, kSortedOperators) || hasAnyOf(text, kSortedKernels) || isScatter(text))
    return DeterministicForm::Sorted;
  const bool isConvolution =
      isAnyOf(plain, kConvolutionOperators) || hasAnyOf(text, kBackwardConvolutions);
  return isConvolution && !hasAnyOf(text, kDeterministicConvolutions) ? DeterministicForm::Unknown
                                                                      : DeterministicForm::Same;
}

SlowDown slowDownOf(DeterministicForm form) noexcept {
  // The mean and the most that pytorch/pytorch#15245 measured over many shapes on a P100: backward
  // passes of x[i], which sort indices, compared with those of gather, which add atomically.
  if (form == DeterministicForm::Sorted)
    return {.factor = 3.34, .most = 23.95};
  // Zhuang et al. ("Randomness in Neural Network Training", MLSys 2022): up to 746 % of overhead in
  // whole trainings of convolutional networks. Most of them have far less, so 2 is a guess.
  if (form == DeterministicForm::OtherAlgorithm)
    return {.factor = 2, .most = 8.46};
  return {};
}

}  // namespace sonde::engine::whatif
