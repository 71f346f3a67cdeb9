#include "gui/models/focus.h"

#include <utility>

namespace sonde::gui {

void Focus::set(Part part) {
  if (part == part_)
    return;
  part_ = std::move(part);
  emit changed();
}

}  // namespace sonde::gui
