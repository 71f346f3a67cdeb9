#include "analysis/engine/breakdown/labels.h"

namespace sonde::engine::breakdown {

std::size_t Labels::Hash::operator()(const Activity& activity) const noexcept {
  const std::uint64_t hash =
      (ScopeNamesHash()(activity.scope) ^ static_cast<std::uint64_t>(activity.category)) *
          0x9E3779B97F4A7C15U +
      static_cast<std::uint64_t>(activity.iteration);
  return (hash * 0x9E3779B97F4A7C15U) >> 16U;
}

Label Labels::of(const Activity& activity) {
  const auto [place, isNew] = labels_.try_emplace(activity, static_cast<Label>(activities_.size()));
  if (isNew)
    activities_.push_back(activity);
  return place->second;
}

}  // namespace sonde::engine::breakdown
