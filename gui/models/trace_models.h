// The open trace and all that the views share about it: the window on time, the selection, the
// search and the totals. The window owns one; views keep a reference. Main thread.
#pragma once

#include "gui/models/analyses.h"
#include "gui/models/computed_once.h"
#include "gui/models/event_correction.h"
#include "gui/models/focus.h"
#include "gui/models/name_search.h"
#include "gui/models/notes.h"
#include "gui/models/path_overlay.h"
#include "gui/models/selection.h"
#include "gui/models/span_totals.h"
#include "gui/models/time_basis.h"
#include "gui/models/timeline_model.h"
#include "gui/models/trace_document.h"
#include "gui/models/view_history.h"
#include "gui/models/view_state.h"

namespace sonde::gui {

struct TraceModels {
  // First: the others drop what they hold before any view sees another trace.
  TraceDocument document;
  ComputedOnce once{document};
  Analyses analyses{document};
  TimeBasis times{document, once, analyses};
  TimelineModel timeline{document, times};
  Selection selection{document};
  NameSearch search{document, selection};
  ViewState view;
  SpanTotals totals{document, view, times};
  Notes notes{document, view};
  Focus focus;
  PathOverlay path;
  ViewHistory history{view, focus, timeline};
  EventCorrection correction{document, selection, times, analyses};

  // All that was asked of the trace has been answered.
  [[nodiscard]] bool settled() const { return document.settled() && analyses.settled(); }
};

}  // namespace sonde::gui
