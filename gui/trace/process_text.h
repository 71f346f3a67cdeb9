// What the window says of a process. Pure functions; any thread.
#pragma once

#include "gui/trace/trace_data.h"

#include <QString>

namespace sonde::gui {

// "rank 0  ·  python3 train.py  ·  pid 4242".
[[nodiscard]] QString titleOf(const ProcessInfo& process);
// How it ended: "exited with status 1", "killed by signal 9", "still ran when recording ended".
[[nodiscard]] QString endingOf(const ProcessInfo& process);
// It was killed, or said itself that it failed.
[[nodiscard]] bool failed(const ProcessInfo& process);

// The name and value of each thing that is known of it; times count from `originNs`.
[[nodiscard]] DetailsSection detailsOf(const ProcessInfo& process, std::int64_t originNs);

}  // namespace sonde::gui
