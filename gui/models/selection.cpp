#include "gui/models/selection.h"

#include "gui/trace/trace_reader.h"

#include <utility>
#include <vector>

namespace sonde::gui {

using Slot = TraceDocument::Slot;

Selection::Selection(TraceDocument& document) : document_(document) {
  connect(&document_, &TraceDocument::replaced, this, [this] {
    details_.reset();
    if (!document_.isContinued())
      ref_.reset();
  });
  connect(&document_, &TraceDocument::opened, this, [this] {
    if (ref_)
      read(EventRef(*ref_), false, TraceDocument::OnError::Ignore);
  });
}

void Selection::select(const EventRef& event) {
  if (ref_ != event)
    read(event, false, TraceDocument::OnError::Announce);
}

void Selection::moveTo(const EventRef& event) {
  read(event, true, TraceDocument::OnError::Announce);
}

void Selection::read(const EventRef& event, bool moved, TraceDocument::OnError onError) {
  ref_ = event;
  details_.reset();
  emit changed();
  document_.ask(
      Slot::Details,
      [event](TraceReader& reader, const Cancellation&) { return reader.details(event); },
      [this, moved](EventDetails details) {
        details_ = std::move(details);
        emit detailsChanged(moved);
      },
      onError);
}

void Selection::clear() {
  document_.cancel(Slot::Details);
  document_.cancel(Slot::Step);
  if (!ref_)
    return;
  ref_.reset();
  details_.reset();
  emit changed();
}

void Selection::step(int direction) {
  if (!ref_)
    return;
  document_.ask(
      Slot::Step,
      [from = *ref_, direction](TraceReader& reader, const Cancellation&) {
        return reader.neighbour(from, direction);
      },
      [this](const std::optional<EventRef>& next) {
        if (next)
          moveTo(*next);
      },
      TraceDocument::OnError::Ignore);
}

void Selection::follow(bool forward) {
  if (!details_)
    return;
  const Arrows& arrows = details_->arrows;
  const std::vector<FoundEvent>& ends = forward ? arrows.to : arrows.from;
  if (!ends.empty())
    moveTo(EventRef(ends.front().ref));
  else if (!arrows.ranks.empty())
    moveTo(EventRef(forward ? arrows.ranks.front().ref : arrows.ranks.back().ref));
}

}  // namespace sonde::gui
