// The question how long a job would take if no rank was slower than the others. Free functions.
#pragma once

#include "analysis/engine/whatif/question.h"
#include "analysis/engine/whatif/selector.h"

#include <optional>

namespace sonde::engine::whatif {

struct NoStragglers {
  std::optional<Selector> only;  // the work that is no longer slow; none: all
  std::optional<Selector> keep;  // work that keeps its own times
};

// A rank takes no longer for the same work than the median of its peers. Operations of an
// operation-level trace all take the mean of their type, communication the median.
Question noStragglers(NoStragglers of);

}  // namespace sonde::engine::whatif
