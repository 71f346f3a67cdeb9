#include "analysis/engine/breakdown/active_sets.h"

#include <algorithm>
#include <utility>

namespace sonde::engine::breakdown {
namespace {

std::uint64_t hashOf(const std::vector<Label>& labels) {
  std::uint64_t hash = labels.size();
  for (const Label label : labels)
    hash = (hash ^ label) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 32U);
}

}  // namespace

ActiveSets::ActiveSets(std::size_t labels) : labels_(labels) {
  numberOf({});
}

ActiveSets::Set ActiveSets::workOut(Set set, Label label) {
  std::vector<Label> labels = sets_[set];
  const auto place = std::lower_bound(labels.begin(), labels.end(), label);
  if (place != labels.end() && *place == label)
    labels.erase(place);
  else
    labels.insert(place, label);
  const Set other = numberOf(std::move(labels));
  if (labels_ <= kDenseLabels) {
    dense_[set * labels_ + label] = other;
    dense_[other * labels_ + label] = set;
  } else {
    sparse_(set, label) = other;
    sparse_(other, label) = set;
  }
  return other;
}

ActiveSets::Set ActiveSets::numberOf(std::vector<Label> labels) {
  const std::uint64_t hash = hashOf(labels);
  const auto [begin, end] = numbers_.equal_range(hash);
  for (auto known = begin; known != end; ++known)
    if (sets_[known->second] == labels)
      return known->second;
  const auto number = static_cast<Set>(sets_.size());
  numbers_.emplace(hash, number);
  sets_.push_back(std::move(labels));
  if (labels_ <= kDenseLabels)
    dense_.resize(sets_.size() * labels_, kUnknown);
  return number;
}

}  // namespace sonde::engine::breakdown
