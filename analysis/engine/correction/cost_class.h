// Classes of recorded events with different costs of recording: the probe and the kind of record,
// as in `overhead.probe` and `overhead.api`. Pure functions.
#pragma once

#include "analysis/model/words.h"

#include <optional>
#include <string_view>

namespace sonde::engine::correction {

struct CostClass {
  std::string_view probe;
  std::string_view api;

  auto operator<=>(const CostClass&) const = default;
};

struct SliceTraits {
  bool inPython = false;  // its process runs Python, where annotations cost more
  bool opens = false;     // opensFile(its name)
  bool launches = false;  // launchesWork(its name)
};

// The class of a row of `slice` with this kind and category. nullopt: no code in the process
// recorded it (CUPTI's own activity), or the cost is negligible beside what was recorded (a fork).
std::optional<CostClass> costClassOf(model::SliceKind kind,
                                     std::string_view category,
                                     const SliceTraits& traits) noexcept;

// Whether a CUDA call of this name gives a device work, for which CUPTI adds a record.
bool launchesWork(std::string_view call) noexcept;

// Whether a file call of this name opens a file; its path is then looked up.
bool opensFile(std::string_view call) noexcept;

// Classes of other tables' rows, one event per row.
inline constexpr CostClass kTransferCost{"net", "transfer"};
inline constexpr CostClass kAllocationCost{"memory", "allocation"};
inline constexpr CostClass kSampleCost{"stack", "sample"};
inline constexpr CostClass kScalarCost{"annotation", "scalar"};
inline constexpr CostClass kTensorCost{"tensor", "tensor"};

}  // namespace sonde::engine::correction
