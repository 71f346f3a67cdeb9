// Texts about a process. Pure functions; any thread.
#pragma once

#include "gui/trace/trace_data.h"

#include <QString>

namespace sonde::gui {

// "rank 0  ·  python3 train.py  ·  pid 4242".
[[nodiscard]] QString titleOf(const ProcessInfo& process);
// "rank 0", "rank 0  ·  pid 4243" of a child, "pid 4242".
[[nodiscard]] QString shortTitleOf(const ProcessInfo& process);
// Its end: "exited with status 1", "killed by signal 9", "still ran when recording ended".
[[nodiscard]] QString endingOf(const ProcessInfo& process);
// It was killed, or exited with an error.
[[nodiscard]] bool failed(const ProcessInfo& process);

// Name and value of each known fact; times count from `originNs`.
[[nodiscard]] DetailsSection detailsOf(const ProcessInfo& process, std::int64_t originNs);

}  // namespace sonde::gui
