#include "gui/views/tracks/process_drag.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sonde::gui {

bool ProcessDrag::begin(const LayoutEntry* line) {
  if (line == nullptr || line->type != LayoutEntry::Type::Process)
    return false;
  process_ = line->process;
  above_.reset();
  return true;
}

void ProcessDrag::moveOver(const LayoutEntry* line, const TrackLayout& layout) {
  above_.reset();
  if (!process_ || (line != nullptr && line->process == *process_))
    return;
  const std::vector<int>& processes = layout.processes();
  const auto from = std::find(processes.begin(), processes.end(), *process_);
  auto to = line == nullptr ? processes.end()
                            : std::find(processes.begin(), processes.end(), line->process);
  if (to != processes.end() && to > from)
    ++to;
  above_ = to == processes.end() ? -1 : *to;
}

void ProcessDrag::finish(TraceModels& models) {
  const std::optional<int> above = std::exchange(above_, std::nullopt);
  const std::optional<int> process = std::exchange(process_, std::nullopt);
  if (!above || !process)
    return;
  TrackArrangement arrangement = models.timeline.arrangement();
  arrangement.moveProcess(models.document.skeleton(), *process, *above);
  models.timeline.arrange(std::move(arrangement));
}

std::optional<int> ProcessDrag::dropY(const TrackLayout& layout) const {
  if (!above_)
    return std::nullopt;
  const auto found =
      std::find_if(layout.entries().begin(), layout.entries().end(), [&](const LayoutEntry& entry) {
        return entry.type == LayoutEntry::Type::Process && entry.process == *above_;
      });
  return found == layout.entries().end() ? layout.height() : found->y;
}

}  // namespace sonde::gui
