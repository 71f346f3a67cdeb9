// A view in a dock of the window. It reads what it shows when it is first visible with a trace, and
// shows a message as long as it has nothing else. Main thread; the models must outlive it.
#pragma once

#include "gui/models/place.h"
#include "gui/models/trace_models.h"

#include <QWidget>

#include <utility>

class QLabel;
class QStackedLayout;

namespace sonde::gui {

class Panel : public QWidget {
  Q_OBJECT

 public:
  explicit Panel(TraceModels& models, QWidget* parent = nullptr);

  // Whether the user sees it. Qt only moves the widgets of hidden tabs out of the window, so
  // isVisible() does not say.
  void setShown(bool shown);
  // The message instead of a content; empty: the content is shown.
  [[nodiscard]] QString message() const;
  // Answers a question of another view, such as an option of `sonde whatif`, or a query.
  virtual void take(const QString& /*question*/) {}
  // Shows this page as long as no trace is open, instead of a message.
  void setFirstPage(QWidget* page);

 signals:
  // The user wants to see the place in the timeline.
  void placeWanted(const sonde::gui::Place& place);
  // The user follows a link to another view: a word of `--view`, and the question for its take().
  void viewWanted(const QString& view, const QString& question = {});
  // A line for the status bar: what the user wanted, and why it is not there.
  void refused(const QString& message);

 protected:
  // Asks for what the view shows. Called when the view is visible and the trace is another one than
  // before.
  virtual void read() = 0;

  [[nodiscard]] TraceModels& models() { return models_; }
  // Its tables follow the focus. Without followTime(), a line above it says that it is of the whole
  // trace when a span is selected.
  void setContent(QWidget* content);
  // The view shows only the selected time: it reads again when that changes.
  void followTime();
  void showContent();
  void showMessage(const QString& message);
  // Reads again, now or when the view is visible.
  void refresh();
  // Analyses::ask(). While it runs, the view says so; an error is its message.
  template <typename Query, typename Accept>
  void ask(Query query, Accept accept);
  // For a part of what it shows: `part` stands for it, so that a newer query for a part interrupts
  // only the older one for the same part. Requires: it is a member of the view.
  template <typename Query, typename Accept>
  void askFor(QObject& part, Query query, Accept accept);

 private:
  void readIfDue();
  void showNoTrace();
  void showWholeTrace();

  TraceModels& models_;
  QStackedLayout* layers_ = nullptr;
  QLabel* message_ = nullptr;
  QLabel* whole_ = nullptr;   // "of the whole trace"
  QWidget* first_ = nullptr;  // nullptr: a message
  bool isShown_ = false;
  bool isDue_ = true;
  bool followsTime_ = false;
};

template <typename Query, typename Accept>
void Panel::ask(Query query, Accept accept) {
  askFor(*this, std::move(query), std::move(accept));
}

template <typename Query, typename Accept>
void Panel::askFor(QObject& part, Query query, Accept accept) {
  if (!message().isEmpty())
    showMessage(tr("Reading…"));
  models_.analyses.ask(part, std::move(query), [this, accept = std::move(accept)](auto answer) {
    if (!answer) {
      showMessage(QString::fromStdString(answer.error().message));
      return;
    }
    showContent();
    accept(*std::move(answer));
  });
}

}  // namespace sonde::gui
