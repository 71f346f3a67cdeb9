// Reads the sections of the details panel for one event. Worker's thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/trace/trace_data.h"

#include <vector>

namespace sonde::gui {

// `found`: the event; `arrows`: the events it is linked to; `skeleton`: tracks, and the origin of
// times.
[[nodiscard]] Result<std::vector<DetailsSection>> readDetails(const store::Database& trace,
                                                              const Skeleton& skeleton,
                                                              const FoundEvent& found,
                                                              const Arrows& arrows);

}  // namespace sonde::gui
