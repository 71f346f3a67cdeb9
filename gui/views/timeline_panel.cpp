#include "gui/views/timeline_panel.h"

#include "gui/views/legend_bar.h"
#include "gui/views/overview_strip.h"
#include "gui/views/search_bar.h"
#include "gui/views/timeline_view.h"
#include "gui/views/tracks/track_commands.h"
#include "gui/views/tracks/track_finder.h"

#include <QMenu>
#include <QVBoxLayout>

namespace sonde::gui {

TimelinePanel::TimelinePanel(TraceModels& models, QWidget* parent)
    : QWidget(parent), models_(models) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  search_ = new SearchBar;
  overview_ = new OverviewStrip(models_);
  timeline_ = new TimelineView(models_);
  legend_ = new LegendBar;
  overview_->setLabelWidth(timeline_->labelWidth());
  layout->addWidget(search_);
  layout->addWidget(overview_);
  layout->addWidget(timeline_, 1);
  layout->addWidget(legend_);
  setFocusProxy(timeline_);
  timeline_->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(timeline_, &QWidget::customContextMenuRequested, this, &TimelinePanel::showMenu);
  connect(timeline_, &TimelineView::labelWidthChanged, overview_, &OverviewStrip::setLabelWidth);
  connect(
      &models_.document, &TraceDocument::failed, this, [this] { timeline_->viewport()->update(); });
  connect(&models_.focus, &Focus::changed, this, [this] {
    models_.timeline.showRank(models_.focus.part().rank);
    models_.search.outline(models_.focus.part().name);
  });
  connectSearch();
}

void TimelinePanel::connectSearch() {
  connect(&models_.search,
          &NameSearch::finished,
          search_,
          qOverload<const SearchReply&>(&SearchBar::show));
  connect(search_, &SearchBar::wanted, this, [this](const QString& text, bool forward) {
    models_.search.find(text, forward, models_.view.viewport().beginNs());
  });
  connect(search_, &SearchBar::closed, this, [this] {
    models_.search.clear();
    timeline_->setFocus();
  });
}

void TimelinePanel::showMenu(const QPoint& at) {
  if (const auto line = timeline_->currentLine())
    menuOf(*line, models_, timeline_)->popup(timeline_->viewport()->mapToGlobal(at));
}

void TimelinePanel::toggleColors() {
  const bool byName = models_.view.colorBy() == ColorBy::Kind;
  models_.view.setColorBy(byName ? ColorBy::Name : ColorBy::Kind);
  legend_->setVisible(!byName);
}

void TimelinePanel::toggleEmptyTracks() {
  models_.timeline.showEmptyThreads(!models_.timeline.layout().showsEmpty());
}

void TimelinePanel::findTrack() {
  if (!models_.document.ready())
    return;
  TrackFinder finder(models_.document.skeleton(), this);
  connect(&finder, &TrackFinder::chosen, timeline_, &TimelineView::scrollToTrack);
  connect(&models_.document, &TraceDocument::replaced, &finder, &QDialog::reject);
  finder.exec();
  timeline_->setFocus();
}

}  // namespace sonde::gui
