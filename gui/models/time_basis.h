// Whether the window shows times as recorded, or corrected for the cost of recording: one choice
// for all views. Part of TraceModels. Main thread.
#pragma once

#include "gui/models/trace_document.h"

#include <QObject>
#include <QString>

namespace sonde::gui {

class TimeBasis : public QObject {
  Q_OBJECT

 public:
  // Requires: `document` outlives it.
  explicit TimeBasis(const TraceDocument& document);

  // At first they are, if the costs of recording are known.
  [[nodiscard]] bool isCorrected() const { return isWanted_ && canCorrect(); }
  void setCorrected(bool isCorrected);
  [[nodiscard]] bool canCorrect() const;
  // How the costs are known and how to know them better, or why no time can be corrected.
  [[nodiscard]] QString explanation() const;

 signals:
  // The user chose the other times. Another trace comes with TraceDocument::replaced.
  void changed();

 private:
  const TraceDocument& document_;
  bool isWanted_ = true;
};

}  // namespace sonde::gui
