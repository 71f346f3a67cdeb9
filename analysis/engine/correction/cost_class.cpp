#include "analysis/engine/correction/cost_class.h"

#include <algorithm>
#include <array>

namespace sonde::engine::correction {
namespace {

using model::SliceKind;

std::string_view torchApi(SliceKind kind) noexcept {
  switch (kind) {
    case SliceKind::Operator:
      return "operator";
    case SliceKind::Module:
      return "module";
    case SliceKind::Iteration:
    case SliceKind::MicroStep:
      return "iteration";
    default:
      return "scope";
  }
}

// For these probes the category of a slice is the probe's name.
constexpr std::array<std::string_view, 8> kByName = {
    "gloo", "net", "mpi", "nccl", "sync", "tensor", "memory", "nvtx"};

std::string_view apiOf(SliceKind kind) noexcept {
  switch (kind) {
    case SliceKind::Collective:
      return "collective";
    case SliceKind::Wait:
      return "wait";
    case SliceKind::Mark:
      return "mark";
    case SliceKind::Api:
    case SliceKind::Io:
      return "call";
    default:
      return "scope";
  }
}

}  // namespace

std::optional<CostClass> costClassOf(SliceKind kind,
                                     std::string_view category,
                                     const SliceTraits& traits) noexcept {
  // "process" is a fork, which takes a thousand times as long as its record.
  if (category == "overhead" || category == "unified_memory" || category == "process")
    return std::nullopt;
  if (kind == SliceKind::Python)
    return CostClass{"python", "call"};
  if (category == "annotation") {
    if (kind == SliceKind::Mark)
      return CostClass{"annotation", "mark"};
    return CostClass{"annotation", traits.inPython ? "scope in Python" : "scope"};
  }
  if (category == "torch")
    return CostClass{"torch", torchApi(kind)};
  if (category.starts_with("cuda"))
    return CostClass{"cuda", traits.launches ? "launch" : "call"};
  if (category == "io")
    return CostClass{"io", traits.opens ? "open" : apiOf(kind)};
  const auto* const known = std::find(kByName.begin(), kByName.end(), category);
  if (known != kByName.end())
    return CostClass{*known, apiOf(kind)};
  return CostClass{"plugin", apiOf(kind)};
}

bool launchesWork(std::string_view call) noexcept {
  constexpr auto kNone = std::string_view::npos;
  // about a graph's nodes, or callbacks
  if (call.find("Graph") != kNone || call.find("HostFunc") != kNone)
    return call.find("GraphLaunch") != kNone;
  return call.find("Launch") != kNone || call.find("Memcpy") != kNone ||
         call.find("Memset") != kNone;
}

bool opensFile(std::string_view call) noexcept {
  return call == "open" || call == "fopen" || call == "freopen";
}

}  // namespace sonde::engine::correction
