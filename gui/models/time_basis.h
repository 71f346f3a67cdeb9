// Whether the window shows times as recorded, or corrected for the cost of recording: one choice
// for all views. Part of TraceModels. Main thread.
#pragma once

#include "analysis/engine/correction/corrected_times.h"
#include "gui/models/analyses.h"
#include "gui/models/computed_once.h"
#include "gui/models/trace_document.h"

#include <QObject>
#include <QString>

#include <cstdint>
#include <memory>

namespace sonde::gui {

class TimeBasis : public QObject {
  Q_OBJECT

 public:
  // The correction takes about 50 bytes for each event, as long as the trace is open.
  static constexpr std::int64_t kMostEvents = 5'000'000;

  // Requires: all outlive it.
  TimeBasis(const TraceDocument& document, ComputedOnce& once, Analyses& analyses);

  // At first they are, if the costs of recording are known.
  [[nodiscard]] bool isCorrected() const { return isWanted_ && canCorrect(); }
  void setCorrected(bool isCorrected);
  [[nodiscard]] bool canCorrect() const;
  // How the costs are known and how to know them better, or why no time can be corrected.
  [[nodiscard]] QString explanation() const;

  // For the times of single events. nullptr: times are as recorded, the trace has too many events,
  // or the correction is not known yet; then it is read, and correctionChanged() tells.
  [[nodiscard]] std::shared_ptr<const engine::correction::CorrectedTimes> correction();

 signals:
  // The user chose the other times. Another trace comes with TraceDocument::replaced.
  void changed();
  // After changed(), and when the correction of the trace has been read.
  void correctionChanged();

 private:
  void readCorrection();

  const TraceDocument& document_;
  ComputedOnce& once_;
  Analyses& analyses_;
  bool isWanted_ = true;
  bool isAsked_ = false;
  std::shared_ptr<const engine::correction::CorrectedTimes> correction_;
};

}  // namespace sonde::gui
