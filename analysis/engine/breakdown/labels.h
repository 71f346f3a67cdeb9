// The labels of a process's tracks, and the activity that each stands for. Plain values; one thread
// at a time.
#pragma once

#include "analysis/engine/breakdown/category.h"
#include "analysis/engine/breakdown/track.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace sonde::engine::breakdown {

// The scopes around an instant that a breakdown distinguishes: ids of strings, 0 for no scope.
struct ScopeNames {
  std::uint32_t phase = 0;
  std::uint32_t operation = 0;
  std::uint32_t module = 0;
  friend bool operator==(const ScopeNames&, const ScopeNames&) = default;
};

struct ScopeNamesHash {
  std::size_t operator()(const ScopeNames& names) const noexcept {
    std::uint64_t hash = names.phase;
    for (const std::uint32_t part : {names.operation, names.module})
      hash = (hash ^ part) * 0x9E3779B97F4A7C15U;
    return hash ^ (hash >> 32U);
  }
};

// An activity: either an iteration, or a category with the scopes it is in.
struct Activity {
  ScopeNames scope;
  Category category = Category::Scope;
  std::int64_t iteration = kNoIteration;  // the field that TrackOptions::iterations selects
  friend bool operator==(const Activity&, const Activity&) = default;

  static constexpr std::int64_t kNoIteration = INT64_MIN;
};

class Labels {
 public:
  Label of(const Activity& activity);
  const Activity& operator[](Label label) const { return activities_[label]; }

 private:
  struct Hash {
    std::size_t operator()(const Activity& activity) const noexcept;
  };
  std::unordered_map<Activity, Label, Hash> labels_;
  std::vector<Activity> activities_;
};

}  // namespace sonde::engine::breakdown
