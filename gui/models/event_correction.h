// How long the selected event would have been without recording, as a section of its details.
// Computed only while times are corrected. Part of TraceModels. Main thread.
#pragma once

#include "analysis/engine/correction/corrected_times.h"
#include "gui/models/analyses.h"
#include "gui/models/computed_once.h"
#include "gui/models/selection.h"
#include "gui/models/time_basis.h"

#include <QObject>

#include <memory>
#include <optional>

namespace sonde::gui {

class EventCorrection : public QObject {
  Q_OBJECT

 public:
  // The correction of a trace takes memory for each event, as long as the trace is open.
  static constexpr std::int64_t kMostEvents = 20'000'000;

  // Requires: all outlive it.
  EventCorrection(TraceDocument& document,
                  Selection& selection,
                  TimeBasis& times,
                  ComputedOnce& once,
                  Analyses& analyses);

  // nullopt: it is not known, or not known yet.
  [[nodiscard]] const std::optional<DetailsSection>& section() const { return section_; }

 signals:
  void changed();

 private:
  void read();
  void readTrace();
  void show(std::optional<DetailsSection> section);

  TraceDocument& document_;
  Selection& selection_;
  TimeBasis& times_;
  ComputedOnce& once_;
  Analyses& analyses_;
  // A newer selection does not begin the correction of the trace anew.
  QObject trace_;
  bool isTraceAsked_ = false;
  std::shared_ptr<const std::optional<engine::correction::Correction>> correction_;
  std::optional<DetailsSection> section_;
};

}  // namespace sonde::gui
