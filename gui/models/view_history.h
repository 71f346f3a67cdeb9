// The ways back and forward through what the user looked at: the shown time, the selected area, the
// focus and the arrangement of the tracks. A movement counts once it has come to rest. Part of
// TraceModels. Main thread.
#pragma once

#include "gui/models/focus.h"
#include "gui/models/timeline_model.h"
#include "gui/models/view_state.h"

#include <QObject>
#include <QTimer>

#include <optional>
#include <vector>

namespace sonde::gui {

class ViewHistory : public QObject {
  Q_OBJECT

 public:
  // Requires: all outlive it.
  ViewHistory(ViewState& view, Focus& focus, TimelineModel& timeline);

  [[nodiscard]] bool canGoBack() const;
  [[nodiscard]] bool canGoForward() const { return !later_.empty(); }
  void goBack();
  void goForward();
  // Forgets all: the trace is another one.
  void clear();

 signals:
  void changed();

 private:
  struct Moment {
    Viewport viewport;
    std::optional<Area> area;
    Focus::Part focus;
    TrackArrangement arrangement;
    // The width of the window is no movement.
    [[nodiscard]] bool isSame(const Moment& other) const;
  };

  [[nodiscard]] Moment now() const;
  void keep();
  void show(const Moment& moment);

  ViewState& view_;
  Focus& focus_;
  TimelineModel& timeline_;
  Moment current_;  // where the last movement came to rest
  std::vector<Moment> earlier_;
  std::vector<Moment> later_;
  QTimer rest_;
};

}  // namespace sonde::gui
