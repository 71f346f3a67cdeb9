// A place in the trace that a view leads to. A plain value.
#pragma once

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

}  // namespace sonde::gui
