// How long the selected event would have been without recording, as a section of its details.
// Computed only while times are corrected. Part of TraceModels. Main thread.
#pragma once

#include "gui/models/analyses.h"
#include "gui/models/selection.h"
#include "gui/models/time_basis.h"

#include <QObject>

#include <optional>

namespace sonde::gui {

class EventCorrection : public QObject {
  Q_OBJECT

 public:
  // Requires: all outlive it.
  EventCorrection(TraceDocument& document,
                  Selection& selection,
                  TimeBasis& times,
                  Analyses& analyses);

  // nullopt: it is not known, or not known yet.
  [[nodiscard]] const std::optional<DetailsSection>& section() const { return section_; }

 signals:
  void changed();

 private:
  void read();
  void show(std::optional<DetailsSection> section);

  TraceDocument& document_;
  Selection& selection_;
  TimeBasis& times_;
  Analyses& analyses_;
  std::optional<DetailsSection> section_;
};

}  // namespace sonde::gui
