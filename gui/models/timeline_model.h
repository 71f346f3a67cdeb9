// The data behind the timeline: the open trace, the blocks of the window, the selected event,
// search and area totals.
//
// Views read it while painting and never wait: it requests missing data from the worker, and
// announces it with a signal. Main thread only; owns the QueryWorker.
#pragma once

#include "gui/models/track_layout.h"
#include "gui/models/viewport.h"
#include "gui/trace/query_worker.h"
#include "gui/trace/trace_data.h"

#include <QHash>
#include <QObject>
#include <QStringList>

#include <optional>
#include <vector>

namespace sonde::gui {

class TimelineModel : public QObject {
  Q_OBJECT

 public:
  enum class State { Empty, Loading, Ready, Failed };

  explicit TimelineModel(QObject* parent = nullptr);

  void open(const QStringList& paths);
  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const QString& error() const { return error_; }
  [[nodiscard]] const QStringList& paths() const { return paths_; }
  [[nodiscard]] const Skeleton& skeleton() const { return skeleton_; }

  [[nodiscard]] const TrackLayout& layout() const { return layout_; }
  void toggle(const LayoutEntry& entry);
  void foldAll(bool fold);
  void showEmptyThreads(bool show);
  void reveal(int track);

  // Sets what is on screen. Requests blocks from the worker if the present ones do not cover it at
  // a fitting resolution.
  void show(const Viewport& viewport, const std::vector<int>& tracks);
  // The present or requested blocks are enough for this window.
  [[nodiscard]] bool covers(const Viewport& viewport, const std::vector<int>& tracks) const;
  // The newest blocks of a track, perhaps at another resolution; nullptr: none yet.
  [[nodiscard]] const std::vector<Block>* blocks(int track) const;
  [[nodiscard]] const QHash<std::uint32_t, QString>& names() const { return names_; }
  // The shortest block of the row that covers a time in [fromNs, toNs].
  [[nodiscard]] const Block* hit(int track, int row, std::int64_t fromNs, std::int64_t toNs) const;

  void askOverview(int bins);
  [[nodiscard]] const std::vector<OverviewRow>& overview() const { return overview_; }

  void select(const EventRef& event);
  void clearSelection();
  [[nodiscard]] const std::optional<EventRef>& selectedRef() const { return selectedRef_; }
  // Unset while they are read.
  [[nodiscard]] const std::optional<EventDetails>& details() const { return details_; }
  // Answers with scopeRead.
  void askScope(const EventRef& event);
  // Selects the next (+1) or previous (-1) event of the row.
  void step(int direction);

  // Selects the first event at the other end of the selection's arrows: of outgoing ones, else of
  // incoming ones. Does nothing if there are no arrows.
  void follow(bool forward);

  // Selects the next hit; answers with searchFinished.
  void search(const QString& text, bool forward, std::int64_t fromNs);
  void clearSearch();
  [[nodiscard]] const QString& searched() const { return searched_; }

  void sumSpan(std::int64_t beginNs, std::int64_t endNs, const std::vector<int>& tracks);
  void clearSpan();
  [[nodiscard]] const std::vector<SpanRow>& span() const { return span_; }

  // All requests have been answered.
  [[nodiscard]] bool settled() const { return worker_.idle(); }

 signals:
  void opened();
  void failed(const QString& message);
  void layoutChanged();
  void blocksChanged();
  void overviewChanged();
  void selectionChanged();
  // The details have arrived. `moved`: the event was found by stepping, following or searching and
  // should be brought into view.
  void detailsChanged(bool moved);
  void scopeRead(const sonde::gui::EventRef& event, const QString& scope);
  void searchFinished(const sonde::gui::SearchReply& reply);
  void spanChanged();
  void settledDown();

 private:
  void accept(WindowReply reply);
  // Selects a found event and brings it into view.
  void moveTo(const EventRef& event);
  void readDetails(const EventRef& event, bool moved);
  void forget();

  State state_ = State::Empty;
  QString error_;
  QStringList paths_;
  Skeleton skeleton_;
  TrackLayout layout_;
  QHash<int, std::vector<Block>> blocks_;
  QHash<std::uint32_t, QString> names_;
  WindowRequest asked_;  // the newest request; its tracks are sorted
  std::vector<OverviewRow> overview_;
  std::optional<EventRef> selectedRef_;
  std::optional<EventDetails> details_;
  QString searched_;
  std::vector<SpanRow> span_;
  QueryWorker worker_;  // last: its thread ends before the members that replies write to are
                        // destroyed
};

}  // namespace sonde::gui
