// The state that the views share: the window on time, the selected area, the marks.
//
// Every view with a time axis zooms and pans through it. The time of the selected area limits what
// all views show, as Focus does. Part of TraceModels. Main thread.
#pragma once

#include "analysis/engine/intervals/intervals.h"
#include "gui/models/tracks/track_arrangement.h"
#include "gui/models/viewport.h"

#include <QObject>
#include <QString>

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace sonde::gui {

struct Span {
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
  [[nodiscard]] std::int64_t durNs() const { return endNs - beginNs; }
  bool operator==(const Span&) const = default;
};

// The colour of an event stands for its kind or its name.
enum class ColorBy { Kind, Name };

// A span of time on some tracks.
struct Area {
  Span span;
  std::vector<TrackId> tracks;  // ascending; empty: all
  bool operator==(const Area&) const = default;
  [[nodiscard]] bool covers(const TrackInfo& track) const;  // O(log(tracks))
};

struct Mark {
  Span span;  // a flag if it has no length
  QString label;
  bool kept = false;  // the next mark does not replace it
  QString note = {};  // the user's words; empty: none
};

class ViewState : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  [[nodiscard]] const Viewport& viewport() const { return viewport_; }
  // Emits `changed` if the viewport differs.
  void setViewport(const Viewport& viewport);
  // setViewport after one of Viewport's changes: `change(&Viewport::panPixels, 40.0)`.
  template <typename... Arguments>
  void change(void (Viewport::*edit)(Arguments...), std::type_identity_t<Arguments>... arguments) {
    Viewport changed = viewport_;
    (changed.*edit)(arguments...);
    setViewport(changed);
  }

  [[nodiscard]] const std::optional<Area>& area() const { return area_; }
  // The time of the area, in job time; unset: no area is selected, and views show all time.
  [[nodiscard]] std::optional<engine::metrics::Interval> selectedTime() const;
  void setArea(const std::optional<Area>& area);
  // As setArea(), while the user still drags: emits areaChanged() only once setArea() is called.
  void dragArea(const Area& area);
  [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }
  // Replaces the mark that is not kept, if any. Repeating a span removes its mark.
  void mark(const Span& span, bool keep);
  // Keeps a mark with these words; without words it removes that of the span.
  void note(const Span& span, const QString& text);
  void setColorBy(ColorBy colorBy);
  [[nodiscard]] ColorBy colorBy() const { return colorBy_; }
  void reset(const Viewport& viewport);
  // The trace has grown: keeps the marks and the area, and emits areaChanged(), since the area may
  // hold more events. A window that nobody has moved since reset() becomes `start`.
  void extend(const Viewport& start);

 signals:
  void changed();  // also while the user drags an area
  void colorsChanged();
  // The user has chosen another area, or the events in it may be others.
  void areaChanged();

 private:
  Viewport viewport_;
  Viewport start_;
  std::optional<Area> area_;
  std::optional<Area> announced_;  // by areaChanged()
  std::vector<Mark> marks_;
  ColorBy colorBy_ = ColorBy::Kind;
};

}  // namespace sonde::gui
