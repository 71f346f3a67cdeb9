// The totals by name of the events in the selected area. Follows that area.
//
// Part of TraceModels. Main thread.
#pragma once

#include "gui/models/time_basis.h"
#include "gui/models/trace_document.h"
#include "gui/models/view_state.h"

#include <QObject>

#include <cstdint>
#include <vector>

namespace sonde::gui {

class SpanTotals : public QObject {
  Q_OBJECT

 public:
  // Requires: all outlive it.
  SpanTotals(TraceDocument& document, const ViewState& view, TimeBasis& times);

  // Empty without an area, and until they have been read. As recorded until the correction is
  // known.
  [[nodiscard]] const std::vector<SpanRow>& rows() const { return rows_; }
  // The length of the span that they are of.
  [[nodiscard]] std::int64_t spanNs() const { return spanNs_; }

 signals:
  void changed();

 private:
  void follow();
  void clear();

  TraceDocument& document_;
  const ViewState& view_;
  TimeBasis& times_;
  std::vector<SpanRow> rows_;
  std::int64_t spanNs_ = 0;
};

}  // namespace sonde::gui
