// Numbers the sets of labels that a sweep meets. Finds the set that results when a label joins or
// leaves one; after the first time this is a table lookup. One thread. Within engine/breakdown.
//
// A set is stored as another set plus or minus one label, whatever its size. If n labels begin one
// after the other and all go on, there are n sets; a list of each set's labels would hold n² / 2.
// Sets are compared by 128-bit hashes: among a billion sets, two collide with probability 10^-21.
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

  // How a set was first reached: from set `from`, which has a lower number, by toggling `label`.
  struct Made {
    Set from;
    Label label;
  };

  // Labels must be below `labels`.
  explicit ActiveSets(std::size_t labels);

  // The set after `label` is toggled: removed if `set` has it, else added.
  Set toggled(Set set, Label label) {
    if (labels_ <= kDenseLabels) {
      const Set known = dense_[set * labels_ + label];
      return known != kUnknown ? known : workOut(set, label);
    }
    const std::int64_t known = sparse_(set, label);
    return known != PairTable::kNone ? static_cast<Set>(known) : workOut(set, label);
  }

  std::size_t size() const noexcept { return made_.size(); }
  // by set; kEmpty's entry means nothing
  const std::vector<Made>& made() const noexcept { return made_; }

 private:
  static constexpr std::size_t kDenseLabels = 64;
  static constexpr Set kUnknown = ~Set{0};

  // A set's hash is the exclusive or of its labels' hashes.
  struct Hash {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    friend bool operator==(const Hash&, const Hash&) = default;
  };
  struct Half {
    std::size_t operator()(const Hash& hash) const noexcept { return hash.low; }
  };

  static Hash hashOf(Label label) noexcept;
  Set workOut(Set set, Label label);
  void add(Hash hash, Made made);

  std::size_t labels_;
  std::vector<Made> made_;
  std::vector<Hash> hashes_;  // by set
  std::unordered_map<Hash, Set, Half> numbers_;
  std::vector<Set> dense_;  // few labels: by set × labels_ + label
  PairTable sparse_;        // many: by set and label
};

}  // namespace sonde::engine::breakdown
