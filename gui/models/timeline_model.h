// The content of the timeline and the overview: the layout of the tracks, the blocks of the window
// on time, and the activity of each process over the whole trace.
//
// Views read it while painting and never wait: it requests missing data from the document, and
// announces it with a signal. Part of TraceModels. Main thread.
#pragma once

#include "gui/models/time_basis.h"
#include "gui/models/trace_document.h"
#include "gui/models/tracks/track_layout.h"
#include "gui/models/viewport.h"

#include <QHash>
#include <QObject>

#include <vector>

namespace sonde::gui {

class TimelineModel : public QObject {
  Q_OBJECT

 public:
  // Requires: both outlive it.
  TimelineModel(TraceDocument& document, TimeBasis& times);

  [[nodiscard]] const TrackLayout& layout() const { return layout_; }
  // Stays when the same trace is opened again; of another one, only groups and order stay.
  [[nodiscard]] const TrackArrangement& arrangement() const { return layout_.arrangement(); }
  void arrange(TrackArrangement arrangement);
  void toggle(const LayoutEntry& entry);
  void showEmptyThreads(bool show);
  // Only the processes of this rank, and those without one; nullopt: all.
  void showRank(std::optional<std::int64_t> rank);
  void reveal(int track);

  // Sets what is on screen. Requests blocks from the worker if the present ones do not cover it at
  // a fitting resolution.
  void show(const Viewport& viewport, const std::vector<int>& tracks);
  // The present or requested blocks are enough for this window.
  [[nodiscard]] bool covers(const Viewport& viewport, const std::vector<int>& tracks) const;
  // The newest blocks of a track, perhaps at another resolution; nullptr: none yet.
  [[nodiscard]] const std::vector<Block>* blocks(int track) const;
  // The newest curve of a counter's track; nullptr: none yet.
  [[nodiscard]] const Curve* curve(int track) const;
  // Where the recording of a track took time, if times are corrected; nullptr: not known.
  [[nodiscard]] const std::vector<engine::correction::CostSpan>* costs(int track) const;
  [[nodiscard]] const QHash<std::uint32_t, QString>& names() const { return names_; }
  // The shortest block of the row that covers a time in [fromNs, toNs].
  [[nodiscard]] const Block* hit(int track, int row, std::int64_t fromNs, std::int64_t toNs) const;

  void askOverview(int bins);
  [[nodiscard]] const std::vector<OverviewRow>& overview() const { return overview_; }
  // Answers with scopeRead.
  void askScope(const EventRef& event);

 signals:
  // Lines moved, came or went. Another trace comes with TraceDocument::replaced.
  void layoutChanged();
  void blocksChanged();
  void overviewChanged();
  void scopeRead(const sonde::gui::EventRef& event, const QString& scope);

 private:
  void takeTrace();
  void accept(WindowReply reply);

  TraceDocument& document_;
  TimeBasis& times_;
  TrackLayout layout_;
  QStringList arrangedTrace_;  // paths
  QHash<int, std::vector<Block>> blocks_;
  QHash<int, Curve> curves_;
  QHash<int, std::vector<engine::correction::CostSpan>> costs_;  // of the tracks in blocks_
  QHash<std::uint32_t, QString> names_;
  WindowRequest asked_;  // the newest request; its tracks are sorted
  std::vector<OverviewRow> overview_;
};

}  // namespace sonde::gui
