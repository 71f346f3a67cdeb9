// What kinds of recorded events there are, as far as it costs differently to record them: by probe
// and by what it records, as `overhead.probe` and `overhead.api` name them. Pure functions.
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
  bool inPython = false;  // its process runs that: an annotation costs more from there
  bool opens = false;     // opensFile(its name)
  bool launches = false;  // launchesWork(its name)
};

// Of a row of `slice` with this kind and category. nullopt: nobody in the process recorded it, as
// of what CUPTI says of itself, or it is next to nothing beside what was recorded, as of a fork.
std::optional<CostClass> costClassOf(model::SliceKind kind,
                                     std::string_view category,
                                     const SliceTraits& traits) noexcept;

// Whether a call of CUDA of this name gives a device something to do, of which CUPTI then has a
// record, too.
bool launchesWork(std::string_view call) noexcept;

// Whether a file call of this name opens one: then its path is looked up.
bool opensFile(std::string_view call) noexcept;

// Of rows of other tables, each once for its row.
inline constexpr CostClass kTransferCost{"net", "transfer"};
inline constexpr CostClass kAllocationCost{"memory", "allocation"};
inline constexpr CostClass kSampleCost{"stack", "sample"};
inline constexpr CostClass kScalarCost{"annotation", "scalar"};
inline constexpr CostClass kTensorCost{"tensor", "tensor"};

}  // namespace sonde::engine::correction
