// The sets of labels that a sweep meets, numbered, and which set comes of one when a label joins or
// leaves it: looked up by number once it has been worked out. One thread. Within engine/breakdown.
//
// A set is kept as another one and a label, however many it holds: n labels that begin one after
// the other, and all go on, make n sets, and a list of what each holds would be n² / 2 labels long.
// Sets are told apart by hashes of 128 bits: that two of a billion have the same one is as likely
// as 1 to 10^21.
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

  // How a set was first met: `from`, which has a lower number, with one label more or less.
  struct Made {
    Set from;
    Label label;
  };

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

  std::size_t size() const noexcept { return made_.size(); }
  const std::vector<Made>& made() const noexcept { return made_; }  // by set; kEmpty's says nothing

 private:
  static constexpr std::size_t kDenseLabels = 64;
  static constexpr Set kUnknown = ~Set{0};

  // Of a set: that of its labels, each by itself, exclusively or'ed.
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
