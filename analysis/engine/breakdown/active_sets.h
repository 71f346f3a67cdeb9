// The sets of labels that a sweep meets, numbered, and which set comes of one when a label joins or
// leaves it: looked up by number once it has been worked out. One thread. Within engine/breakdown.
#pragma once

#include "analysis/engine/breakdown/pair_table.h"
#include "analysis/engine/breakdown/track.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sonde::engine::breakdown {

class ActiveSets {
 public:
  using Set = std::uint32_t;
  static constexpr Set kEmpty = 0;

  // For labels below `labels`.
  explicit ActiveSets(std::size_t labels);

  // The set that has `label` where `set` has it not, and the other way round.
  Set toggled(Set set, Label label) {
    if (labels_ <= kDenseLabels) {
      const Set known = dense_[set * labels_ + label];
      return known != kUnknown ? known : workOut(set, label);
    }
    const std::int64_t known = sparse_(set, label);
    return known != PairTable::kNone ? static_cast<Set>(known) : workOut(set, label);
  }

  std::size_t size() const noexcept { return sets_.size(); }
  const std::vector<Label>& labelsOf(Set set) const { return sets_[set]; }  // ascending

 private:
  static constexpr std::size_t kDenseLabels = 64;
  static constexpr Set kUnknown = ~Set{0};

  Set workOut(Set set, Label label);
  Set numberOf(std::vector<Label> labels);

  std::size_t labels_;
  std::vector<std::vector<Label>> sets_;
  std::unordered_multimap<std::uint64_t, Set> numbers_;  // by a hash of the labels
  std::vector<Set> dense_;                               // few labels: by set × labels_ + label
  PairTable sparse_;                                     // many: by set and label
};

}  // namespace sonde::engine::breakdown
