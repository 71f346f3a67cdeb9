#include "analysis/engine/breakdown/active_sets.h"

namespace sonde::engine::breakdown {
namespace {

// The mixing of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
std::uint64_t mixed(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

}  // namespace

ActiveSets::ActiveSets(std::size_t labels) : labels_(labels) {
  add({}, {kEmpty, 0});
}

ActiveSets::Hash ActiveSets::hashOf(Label label) noexcept {
  const std::uint64_t step = 0x9E3779B97F4A7C15U;
  return {mixed((2 * std::uint64_t{label} + 1) * step),
          mixed((2 * std::uint64_t{label} + 2) * step)};
}

ActiveSets::Set ActiveSets::workOut(Set set, Label label) {
  const Hash own = hashOf(label);
  const Hash hash{hashes_[set].high ^ own.high, hashes_[set].low ^ own.low};
  const auto known = numbers_.find(hash);
  const Set other = known != numbers_.end() ? known->second : static_cast<Set>(size());
  if (known == numbers_.end())
    add(hash, {set, label});
  if (labels_ <= kDenseLabels) {
    dense_[set * labels_ + label] = other;
    dense_[other * labels_ + label] = set;
  } else {
    sparse_(set, label) = other;
    sparse_(other, label) = set;
  }
  return other;
}

void ActiveSets::add(Hash hash, Made made) {
  numbers_.emplace(hash, static_cast<Set>(size()));
  hashes_.push_back(hash);
  made_.push_back(made);
  if (labels_ <= kDenseLabels)
    dense_.resize(size() * labels_, kUnknown);
}

}  // namespace sonde::engine::breakdown
