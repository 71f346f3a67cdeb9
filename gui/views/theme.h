// The colours of the timeline, for a light or a dark desktop.
//
// Kinds share thirteen colours that remain distinct with the common colour-vision deficiencies
// (after Okabe and Ito, and Tol's "muted" set). They differ in lightness as well as in hue; the
// legend names them. A value; main thread.
#pragma once

#include "gui/models/view_state.h"
#include "gui/trace/trace_data.h"

#include <QColor>
#include <QPalette>
#include <QString>

#include <cstddef>
#include <optional>
#include <vector>

namespace sonde::gui {

struct LegendEntry {
  QString label;
  std::vector<QColor> colors;  // all colours of its kinds
  std::vector<Kind> kinds;
};

class Theme {
 public:
  explicit Theme(const QPalette& palette);

  [[nodiscard]] bool dark() const { return dark_; }
  [[nodiscard]] QColor fill(Kind kind) const;
  // The colour of the kind. It is lighter or darker depending on the name if the kind alone is not
  // informative: for names from programs. A name has the same colour in every trace.
  [[nodiscard]] QColor fill(Kind kind, const QString& name) const;
  // A name has the same colour in every trace.
  [[nodiscard]] QColor fill(const QString& name) const;
  // The colour of an event in every view. `kind` unset: not known, its name counts.
  [[nodiscard]] QColor fill(ColorBy by, std::optional<Kind> kind, const QString& name) const;
  // For the parts and lines of a chart, by their number: 13 distinct colours, then shades of them.
  [[nodiscard]] static QColor ofNumber(std::size_t number);
  // `fill` over the background with opacity `share`.
  [[nodiscard]] QColor faded(const QColor& fill, double share) const;
  // Black or white, whichever is more readable on `fill`: the contrast is at least 4.5 (WCAG 2.1,
  // AA).
  [[nodiscard]] static QColor textOn(const QColor& fill);
  [[nodiscard]] static std::vector<LegendEntry> legend();

  QColor background;
  QColor panel;        // headers of processes, the label column
  QColor panelStrong;  // process rows
  QColor text;
  QColor dimText;
  QColor grid;
  QColor border;
  QColor life;           // a process, from its start to its end
  QColor lifeStrong;     // the same, in full colour
  QColor selection;      // outline of the selected slice, edges of the area
  QColor selectionFill;  // the area, translucent
  QColor mark;
  QColor arrow;
  QColor curve;      // counters
  QColor highlight;  // outline under the mouse

 private:
  bool dark_;
};

// A palette for Qt's own widgets; `dark` applies if the desktop does not set one.
[[nodiscard]] QPalette plainPalette(bool dark);

}  // namespace sonde::gui
