// The selected event, its details and its arrows; steps to its neighbours.
//
// Every view shows the same selection. A later state of the trace keeps it. Part of TraceModels.
// Main thread.
#pragma once

#include "gui/models/trace_document.h"

#include <QObject>

#include <optional>

namespace sonde::gui {

class Selection : public QObject {
  Q_OBJECT

 public:
  // Requires: `document` outlives it.
  explicit Selection(TraceDocument& document);

  void select(const EventRef& event);
  // Selects a found event and has it brought into view.
  void moveTo(const EventRef& event);
  void clear();
  [[nodiscard]] const std::optional<EventRef>& ref() const { return ref_; }
  // Unset while they are read.
  [[nodiscard]] const std::optional<EventDetails>& details() const { return details_; }

  // Selects the next (+1) or previous (-1) event of the row.
  void step(int direction);
  // Selects the first event at the other end of the selection's outgoing or incoming arrows.
  // Without such arrows, the next or previous rank's part of its collective.
  void follow(bool forward);

 signals:
  void changed();
  // The details have arrived. `moved`: the event was found by stepping, following or searching and
  // should be brought into view.
  void detailsChanged(bool moved);

 private:
  void read(const EventRef& event, bool moved, TraceDocument::OnError onError);

  TraceDocument& document_;
  std::optional<EventRef> ref_;
  std::optional<EventDetails> details_;
};

}  // namespace sonde::gui
