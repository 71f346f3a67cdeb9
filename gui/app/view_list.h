// The views of the window, in the order of their tabs. Plain values; main thread.
#pragma once

#include "gui/models/trace_models.h"
#include "gui/views/panel.h"

#include <QString>

#include <span>

namespace sonde::gui {

struct ViewInfo {
  const char* word;   // for --view
  const char* title;  // of its tab and in the menu
  const char* purpose;
  // nullptr: the timeline, which the window makes itself.
  Panel* (*make)(TraceModels& models);
};

[[nodiscard]] std::span<const ViewInfo> views();
// nullptr: there is none.
[[nodiscard]] const ViewInfo* viewOf(const QString& word);
// "overview, timeline, …"
[[nodiscard]] QString viewWords();

}  // namespace sonde::gui
