// The sections that the details panel shows of one event. Worker's thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/trace/trace_data.h"

#include <vector>

namespace sonde::gui {

// `found` says which event, `arrows` what it is tied to; `skeleton` resolves tracks and what 0 is.
[[nodiscard]] Result<std::vector<DetailsSection>> readDetails(const store::Database& trace,
                                                              const Skeleton& skeleton,
                                                              const FoundEvent& found,
                                                              const Arrows& arrows);

}  // namespace sonde::gui
