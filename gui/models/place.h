// A place in the trace that a view leads to. A plain value.
#pragma once

#include "gui/models/focus.h"
#include "gui/models/view_state.h"
#include "gui/trace/trace_data.h"

#include <QString>

#include <cstdint>
#include <optional>

namespace sonde::gui {

struct Place {
  std::optional<Span> span{};
  std::optional<EventRef> event{};
  std::optional<std::int64_t> rank{};
  QString operation = {};
  QString name = {};
};

// None of the rank, operation and name of the place is another one than that of `part`. A place
// without one of these is not about it.
[[nodiscard]] inline bool isOf(const Place& place, const Focus::Part& part) {
  return (!part.rank || !place.rank || part.rank == place.rank) &&
         (part.operation.isEmpty() || place.operation.isEmpty() ||
          part.operation == place.operation) &&
         (part.name.isEmpty() || (place.name.isEmpty() && place.operation.isEmpty()) ||
          place.name.contains(part.name, Qt::CaseInsensitive) ||
          place.operation.contains(part.name, Qt::CaseInsensitive));
}

}  // namespace sonde::gui
