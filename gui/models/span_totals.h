// The totals by name of the events in the selected area.
//
// Part of TraceModels. Main thread.
#pragma once

#include "gui/models/trace_document.h"
#include "gui/models/view_state.h"

#include <QObject>

#include <vector>

namespace sonde::gui {

class SpanTotals : public QObject {
  Q_OBJECT

 public:
  // Requires: `document` outlives it.
  explicit SpanTotals(TraceDocument& document);

  void sum(const Area& area);
  void clear();
  // Empty until they have been read.
  [[nodiscard]] const std::vector<SpanRow>& rows() const { return rows_; }

 signals:
  void changed();

 private:
  TraceDocument& document_;
  std::vector<SpanRow> rows_;
};

}  // namespace sonde::gui
