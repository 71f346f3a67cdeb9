#include "gui/models/view_state.h"

#include "gui/trace/time_format.h"

#include <algorithm>
#include <utility>

namespace sonde::gui {

bool Area::covers(const TrackInfo& track) const {
  return tracks.empty() || std::binary_search(tracks.begin(), tracks.end(), idOf(track));
}

void ViewState::setViewport(const Viewport& viewport) {
  if (viewport == viewport_)
    return;
  viewport_ = viewport;
  emit changed();
}

void ViewState::setColorBy(ColorBy colorBy) {
  if (colorBy == colorBy_)
    return;
  colorBy_ = colorBy;
  emit colorsChanged();
}

std::optional<engine::metrics::Interval> ViewState::selectedTime() const {
  if (!area_)
    return {};
  return engine::metrics::Interval{area_->span.beginNs, area_->span.endNs};
}

void ViewState::setArea(const std::optional<Area>& area) {
  if (area != area_) {
    area_ = area;
    emit changed();
  }
  if (area_ != announced_) {
    announced_ = area_;
    emit areaChanged();
  }
}

void ViewState::dragArea(const Area& area) {
  if (area == area_)
    return;
  area_ = area;
  emit changed();
}

void ViewState::mark(const Span& span, bool keep) {
  const auto same = std::find_if(
      marks_.begin(), marks_.end(), [&](const Mark& mark) { return mark.span == span; });
  if (same != marks_.end() && !same->note.isEmpty())
    return;
  if (same != marks_.end()) {
    if (keep && !same->kept)
      same->kept = true;
    else
      marks_.erase(same);
    emit changed();
    return;
  }
  std::erase_if(marks_, [](const Mark& mark) { return !mark.kept; });
  marks_.push_back({span, span.durNs() > 0 ? formatDuration(span.durNs()) : QString(), keep, {}});
  emit changed();
}

void ViewState::note(const Span& span, const QString& text) {
  std::erase_if(marks_, [&](const Mark& mark) { return mark.span == span; });
  if (!text.isEmpty())
    marks_.push_back({span, {}, true, text});
  emit changed();
}

void ViewState::reset(const Viewport& viewport) {
  viewport_ = viewport;
  start_ = viewport;
  marks_.clear();
  area_.reset();
  announced_.reset();
  emit changed();
  emit areaChanged();
}

void ViewState::extend(const Viewport& start) {
  const Viewport before = std::exchange(viewport_, start);
  if (before.beginNs() != start_.beginNs() || before.endNs() != start_.endNs())
    viewport_.show(before.beginNs(), before.endNs(), 0.0);
  start_ = start;
  emit changed();
  emit areaChanged();
}

}  // namespace sonde::gui
