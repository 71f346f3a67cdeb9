// The state shared by timeline and overview: the window on time, the selected area, the marks. Main
// thread.
#pragma once

#include "gui/models/viewport.h"

#include <QObject>
#include <QString>

#include <optional>
#include <utility>
#include <vector>

namespace sonde::gui {

struct Span {
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
  [[nodiscard]] std::int64_t durNs() const { return endNs - beginNs; }
  bool operator==(const Span&) const = default;
};

struct Mark {
  Span span;  // a flag if it has no length
  QString label;
  bool kept = false;  // the next mark does not replace it
};

class ViewState : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  [[nodiscard]] const Viewport& viewport() const { return viewport_; }
  // Emits `changed` if the viewport differs.
  void setViewport(const Viewport& viewport);
  [[nodiscard]] const std::optional<Span>& area() const { return area_; }
  void setArea(const std::optional<Span>& area);
  [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }
  // Replaces the mark that is not kept, if any. Repeating a span removes its mark.
  void mark(const Span& span, bool keep);
  void clearMarks();
  void reset(const Viewport& viewport);

 signals:
  void changed();
  void areaChanged();

 private:
  Viewport viewport_;
  std::optional<Span> area_;
  std::vector<Mark> marks_;
};

}  // namespace sonde::gui
