// The colours of the timeline, for a light or a dark desktop.
//
// Kinds share thirteen colours that stay apart for readers with the common colour-vision
// deficiencies (after Okabe and Ito, and Tol's "muted" set) and differ in lightness as well as in
// hue; the legend names them. A value; main thread.
#pragma once

#include "gui/trace/trace_data.h"

#include <QColor>
#include <QPalette>
#include <QString>

#include <vector>

namespace sonde::gui {

enum class ColorBy { Kind, Name };

struct LegendEntry {
  QString label;
  std::vector<QColor> colors;  // all that its kinds may have
  std::vector<Kind> kinds;
};

class Theme {
 public:
  explicit Theme(const QPalette& palette);

  [[nodiscard]] bool dark() const { return dark_; }
  [[nodiscard]] QColor fill(Kind kind) const;
  // The colour of the kind, lighter or darker by the name where the kind alone says little: what
  // programs name themselves. The same name has the same colour in every trace.
  [[nodiscard]] QColor fill(Kind kind, const QString& name) const;
  // The same name has the same colour in every trace.
  [[nodiscard]] QColor fill(const QString& name) const;
  // `fill` over the background, as opaque as `share` of 1.
  [[nodiscard]] QColor faded(const QColor& fill, double share) const;
  // Black or white, whichever reads better on `fill`: the contrast is at least 4.5 (WCAG 2.1, AA).
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
  QColor lifeStrong;     // the same in full
  QColor selection;      // outline of the selected slice, edges of the area
  QColor selectionFill;  // the area, translucent
  QColor mark;
  QColor arrow;
  QColor highlight;  // outline under the mouse

 private:
  bool dark_;
};

// A palette for Qt's own widgets; `dark` stands in for the desktop where it has none.
[[nodiscard]] QPalette plainPalette(bool dark);

}  // namespace sonde::gui
