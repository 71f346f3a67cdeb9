#include "gui/models/time_basis.h"

#include <optional>
#include <utility>

namespace sonde::gui {
namespace {

namespace correction = engine::correction;

Result<std::optional<correction::Correction>> readKnownCorrection(const store::Database& trace) {
  return correction::readCorrection(trace);
}

}  // namespace

TimeBasis::TimeBasis(const TraceDocument& document, ComputedOnce& once, Analyses& analyses)
    : document_(document), once_(once), analyses_(analyses) {
  connect(&document_, &TraceDocument::replaced, this, [this] {
    isAsked_ = false;
    correction_.reset();
  });
}

void TimeBasis::setCorrected(bool isCorrected) {
  if (isCorrected == isWanted_)
    return;
  isWanted_ = isCorrected;
  emit changed();
  emit correctionChanged();
}

std::shared_ptr<const correction::CorrectedTimes> TimeBasis::correction() {
  if (!document_.ready() || !isCorrected() || document_.skeleton().events > kMostEvents)
    return nullptr;
  if (!std::exchange(isAsked_, true))
    readCorrection();
  return correction_;
}

void TimeBasis::readCorrection() {
  analyses_.ask(*this, once_.query<readKnownCorrection>(), [this](const auto& read) {
    if (!read || !**read)
      return;
    correction_ = std::shared_ptr<const correction::CorrectedTimes>(*read, &(**read)->times);
    emit correctionChanged();
  });
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
  return tr(
             "The cost of recording is known by: %1. The more of a bar's time in the timeline is "
             "this cost, the fainter the bar.")
      .arg(skeleton.costMethods.join(QStringLiteral(", ")));
}

}  // namespace sonde::gui
