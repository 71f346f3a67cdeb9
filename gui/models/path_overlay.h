// A path through the tracks of the timeline, such as the critical path of each iteration: drawn
// over the events. Part of TraceModels. Main thread.
#pragma once

#include "gui/models/view_state.h"

#include <QObject>

#include <utility>
#include <vector>

namespace sonde::gui {

class PathOverlay : public QObject {
  Q_OBJECT

 public:
  struct Part {
    int track = -1;  // index in Skeleton::tracks; -1: between tracks
    Span span;
  };

  using QObject::QObject;

  // In the order of the path; those of another iteration after those of the one before.
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  void show(std::vector<Part> parts);
  void clear() { show({}); }

 signals:
  void changed();

 private:
  std::vector<Part> parts_;
};

}  // namespace sonde::gui
