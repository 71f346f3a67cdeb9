#include "gui/models/path_overlay.h"

namespace sonde::gui {

void PathOverlay::show(std::vector<Part> parts) {
  parts_ = std::move(parts);
  emit changed();
}

}  // namespace sonde::gui
