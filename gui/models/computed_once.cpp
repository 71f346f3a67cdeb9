#include "gui/models/computed_once.h"

namespace sonde::gui {

ComputedOnce::ComputedOnce(TraceDocument& document) {
  connect(&document, &TraceDocument::replaced, this, [this] { entries_.clear(); });
}

std::shared_ptr<ComputedOnce::Entry> ComputedOnce::entryOf(std::type_index key) {
  std::shared_ptr<Entry>& entry = entries_[key];
  if (entry == nullptr)
    entry = std::make_shared<Entry>();
  return entry;
}

}  // namespace sonde::gui
