// A process that the user drags by its label to another place in the timeline. Main thread.
#pragma once

#include "gui/models/trace_models.h"

#include <optional>

namespace sonde::gui {

class ProcessDrag {
 public:
  // `line`: where the mouse was pressed, on a label; nullptr: nowhere. False: it is no process.
  bool begin(const LayoutEntry* line);
  // The process would come above that of `line`, or below it if it is already above; nullptr: to
  // the end.
  void moveOver(const LayoutEntry* line, const TrackLayout& layout);
  // Moves the process there.
  void finish(TraceModels& models);
  // The y of the layout where the process would come; nullopt: it would stay.
  [[nodiscard]] std::optional<int> dropY(const TrackLayout& layout) const;

 private:
  std::optional<int> process_;
  std::optional<int> above_;  // -1: the end; nullopt: it stays
};

}  // namespace sonde::gui
