#include "gui/models/time_basis.h"

namespace sonde::gui {

TimeBasis::TimeBasis(const TraceDocument& document) : document_(document) {}

void TimeBasis::setCorrected(bool isCorrected) {
  if (isCorrected == isWanted_)
    return;
  isWanted_ = isCorrected;
  emit changed();
}

bool TimeBasis::canCorrect() const {
  const Skeleton& skeleton = document_.skeleton();
  return !skeleton.costMethods.isEmpty() && !skeleton.replayed;
}

QString TimeBasis::explanation() const {
  const Skeleton& skeleton = document_.skeleton();
  if (!document_.ready())
    return tr("No trace is open.");
  if (skeleton.replayed)
    return tr("The times of a replay have no cost of recording.");
  if (skeleton.costMethods.isEmpty())
    return tr(
        "This trace does not have the cost of recording: another tool has recorded it, or "
        "parts of it are missing. Record the job with \"sonde run --calibrate\".");
  if (skeleton.costMethods == QStringList{QStringLiteral("assumed")})
    return tr(
        "The cost of recording is assumed. Record the job with \"sonde run --calibrate\" to "
        "measure it.");
  return tr("The cost of recording is known by: %1.")
      .arg(skeleton.costMethods.join(QStringLiteral(", ")));
}

}  // namespace sonde::gui
