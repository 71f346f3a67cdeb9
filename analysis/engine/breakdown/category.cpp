#include "analysis/engine/breakdown/category.h"

namespace sonde::engine::breakdown {
namespace {

using model::SliceKind;

bool isCommunication(std::string_view category) noexcept {
  return category == "mpi" || category == "nccl" || category == "gloo" || category == "ucx";
}

// Calls of a device's driver or runtime: CUDA's, or as other tools name them.
bool isDeviceCall(std::string_view category) noexcept {
  return category.starts_with("cuda") || category.ends_with("_runtime") ||
         category.ends_with("_driver") || category == "Runtime";
}

Category nativeCode(std::string_view category) noexcept {
  if (category == "framework")
    return Category::Framework;
  if (category == "simulator")
    return Category::Simulator;
  return category == "other" ? Category::Other : Category::Python;
}

std::optional<Category> callCategory(std::string_view category) noexcept {
  if (category == "overhead")
    return std::nullopt;
  if (isDeviceCall(category))
    return Category::CudaApi;
  return isCommunication(category) ? Category::CommApi : Category::Framework;
}

}  // namespace

std::optional<Category> hostCategory(SliceKind kind,
                                     std::string_view category,
                                     bool transitions) noexcept {
  switch (kind) {
    case SliceKind::Python:
      return nativeCode(category);
    case SliceKind::Operator:
      return Category::Framework;
    case SliceKind::Forward:
    case SliceKind::Backward:
    case SliceKind::Optimizer:
    case SliceKind::Module:
      return transitions ? Category::Scope : Category::Framework;
    case SliceKind::Api:
      return callCategory(category);
    case SliceKind::Collective:
      return Category::CommApi;
    case SliceKind::Io:
      return Category::Io;
    case SliceKind::Wait:
      return isCommunication(category) ? Category::CommApi : Category::Wait;
    case SliceKind::Range:
    case SliceKind::Mark:
      return std::nullopt;
    default:
      return Category::Scope;
  }
}

}  // namespace sonde::engine::breakdown
