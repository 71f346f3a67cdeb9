#include "gui/app/main_window.h"

#include "gui/app/details_docks.h"
#include "gui/app/file_actions.h"
#include "gui/app/session.h"
#include "gui/app/view_list.h"
#include "gui/app/window_menus.h"
#include "gui/trace/time_format.h"
#include "gui/views/timeline_panel.h"
#include "gui/views/timeline_view.h"

#include <QChildEvent>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMimeData>
#include <QStatusBar>
#include <QTabBar>
#include <QVBoxLayout>

#include <algorithm>

namespace sonde::gui {

MainWindow::MainWindow() {
  setAcceptDrops(true);
  setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks | GroupedDragging);
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  setCorner(Qt::TopRightCorner, Qt::RightDockWidgetArea);
  setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
  buildViews();
  buildStatusBar();
  details_ = new DetailsDocks(*this, models_);
  connect(views_.value(QStringLiteral("timeline")),
          &QDockWidget::visibilityChanged,
          details_,
          &DetailsDocks::setTimelineShown);
  session_ = new Session(*this);
  files_ = new FileActions(*this);
  files_->buildWelcome();
  menus_ = new WindowMenus(*this, *timeline_, *files_);
  connectModel();
  showTitle();
  showView(QLatin1String(views().front().word));
}

// The views end before the models that they use, and their long searches end with them.
MainWindow::~MainWindow() {
  for (QDockWidget* dock : std::as_const(views_)) {
    disconnect(dock, nullptr, this, nullptr);
    delete dock;
  }
}

void MainWindow::buildViews() {
  timeline_ = new TimelinePanel(models_);
  QDockWidget* before = nullptr;
  for (const ViewInfo& info : views()) {
    QDockWidget* dock = addView(info);
    if (before == nullptr)
      addDockWidget(Qt::TopDockWidgetArea, dock);
    else
      tabifyDockWidget(before, dock);
    before = dock;
  }
}

QDockWidget* MainWindow::addView(const ViewInfo& info) {
  auto* dock = new QDockWidget(tr(info.title));
  dock->setObjectName(QLatin1String(info.word));
  dock->setTitleBarWidget(new QWidget);  // the tab has the title
  dock->setToolTip(tr(info.purpose));
  if (info.make == nullptr) {
    dock->setWidget(timeline_);
  } else {
    Panel* panel = info.make(models_);
    panel->setAccessibleName(tr(info.title));
    connect(panel, &Panel::placeWanted, this, &MainWindow::showPlace);
    connect(panel, &Panel::viewWanted, this, [this](const QString& word, const QString& question) {
      showView(word);
      if (Panel* asked = view(word); asked != nullptr && !question.isEmpty())
        asked->take(question);
    });
    connect(panel, &Panel::refused, this, &MainWindow::tell);
    connect(dock, &QDockWidget::visibilityChanged, panel, &Panel::setShown);
    dock->setWidget(panel);
  }
  connect(dock, &QDockWidget::visibilityChanged, this, [this, word = dock->objectName()](bool is) {
    if (is)
      inFront_.insert(word);
    else
      inFront_.remove(word);
  });
  views_.insert(dock->objectName(), dock);
  return dock;
}

void MainWindow::buildStatusBar() {
  hoverText_ = new QLabel;
  selectionText_ = new QLabel;
  hoverText_->setObjectName(QStringLiteral("hoverText"));
  hoverText_->setTextFormat(Qt::PlainText);
  hoverText_->setMinimumWidth(1);  // a long name must not widen the window
  hoverText_->setContentsMargins(8, 0, 0, 0);
  selectionText_->setContentsMargins(0, 0, 10, 2);
  selectionText_->setObjectName(QStringLiteral("selectionText"));
  statusBar()->addWidget(hoverText_, 1);
  statusBar()->addPermanentWidget(selectionText_);
  statusBar()->setSizeGripEnabled(false);
}

void MainWindow::connectModel() {
  connect(&models_.document, &TraceDocument::opened, this, [this] {
    everOpened_ = true;
    if (!models_.document.isContinued())
      models_.history.clear();
    models_.notes.load();
    showTitle();
    showSelectionText();
  });
  connect(&models_.document,
          &TraceDocument::progressed,
          this,
          [this](const QString& step, double share) {
            statusBar()->showMessage(tr("Opening… %1 %: %2").arg(int(100 * share)).arg(step));
          });
  connect(&models_.notes, &Notes::failed, this, &MainWindow::tell);
  connect(&models_.document, &TraceDocument::replaced, this, [this] {
    statusBar()->clearMessage();
    if (!models_.document.isContinued())
      models_.history.clear();
    showTitle();
  });
  connect(&models_.document, &TraceDocument::failed, this, &MainWindow::tell);
  connect(&models_.selection, &Selection::detailsChanged, this, [this](bool moved) {
    if (moved)
      timeline().bringIntoView(models_.selection.details()->event);
    showSelectionText();
  });
  connect(&models_.selection, &Selection::changed, this, &MainWindow::showSelectionText);
  connect(&models_.view, &ViewState::changed, this, &MainWindow::showSelectionText);
  connect(&timeline(), &TimelineView::hovered, hoverText_, &QLabel::setText);
}

void MainWindow::tell(const QString& message) {
  constexpr int kMs = 10'000;
  statusBar()->showMessage(message, kMs);
}

TimelineView& MainWindow::timeline() {
  return timeline_->timeline();
}

Panel* MainWindow::view(const QString& word) const {
  const QDockWidget* const dock = views_.value(word);
  return dock == nullptr ? nullptr : qobject_cast<Panel*>(dock->widget());
}

void MainWindow::showView(const QString& word) {
  QDockWidget* const dock = views_.value(word);
  if (dock == nullptr)
    return;
  dock->show();
  dock->raise();
  dock->widget()->setFocus();
}

QString MainWindow::wordInFront() const {
  for (const ViewInfo& info : views()) {
    QString word = QLatin1String(info.word);
    if (inFront_.contains(word))
      return word;
  }
  return QLatin1String(views().front().word);
}

QWidget& MainWindow::viewInFront() {
  return *views_.value(wordInFront())->widget();
}

void MainWindow::resetLayout() {
  const QString front = wordInFront();
  QDockWidget* before = nullptr;
  for (const ViewInfo& info : views()) {
    QDockWidget* dock = views_.value(QLatin1String(info.word));
    dock->setFloating(false);
    dock->show();
    if (before != nullptr)
      tabifyDockWidget(before, dock);
    before = dock;
  }
  showView(front);
}

// The time that is shown on each side of a moment.
std::int64_t MainWindow::aroundMoment() const {
  constexpr std::int64_t kParts = 100;  // of the job
  const Skeleton& skeleton = models_.document.skeleton();
  return (skeleton.endNs - skeleton.beginNs) / kParts;
}

void MainWindow::showTime(const Span& sinceBegin) {
  const Skeleton& skeleton = models_.document.skeleton();
  const Span span{skeleton.originNs + sinceBegin.beginNs, skeleton.originNs + sinceBegin.endNs};
  if (span.durNs() == 0) {
    const std::int64_t around = aroundMoment();
    models_.view.change(&Viewport::show, span.beginNs - around, span.endNs + around, 0.0);
    models_.view.mark(span, true);
    return;
  }
  models_.view.change(&Viewport::show, span.beginNs, span.endNs, 0.1);
  models_.view.setArea(Area{span, {}});
}

void MainWindow::showNote(const Span& span) {
  showView(QStringLiteral("timeline"));
  const std::int64_t around = span.durNs() > 0 ? span.durNs() : aroundMoment();
  models_.view.change(&Viewport::show, span.beginNs - around, span.endNs + around, 0.0);
}

void MainWindow::showPlace(const Place& place) {
  constexpr double kMargin = 0.2;
  if (!place.span && !place.event && place.name.isEmpty()) {
    if (place.rank || !place.operation.isEmpty())
      models_.focus.set({place.rank, place.operation, models_.focus.part().name});
    else
      tell(tr("This has no place in the timeline."));
    return;
  }
  showView(QStringLiteral("timeline"));
  if (place.span)
    models_.view.change(&Viewport::show, place.span->beginNs, place.span->endNs, kMargin);
  if (place.rank)
    scrollToRank(*place.rank);
  if (place.event)
    models_.selection.moveTo(*place.event);
  if (!place.span && !place.event)
    models_.search.find(place.name, true, models_.view.viewport().beginNs());
}

void MainWindow::scrollToRank(std::int64_t rank) {
  const Skeleton& skeleton = models_.document.skeleton();
  const auto found =
      std::find_if(skeleton.tracks.begin(), skeleton.tracks.end(), [&](const TrackInfo& track) {
        return track.rows > 0 &&
               skeleton.processes[static_cast<std::size_t>(track.process)].rank == rank;
      });
  if (found != skeleton.tracks.end())
    timeline().scrollToTrack(static_cast<int>(found - skeleton.tracks.begin()));
}

void MainWindow::open(const QStringList& paths) {
  models_.focus.clear();
  models_.document.open(paths);
  showTitle();
}

void MainWindow::showTitle() {
  QStringList names;
  for (const QString& path : models_.document.paths())
    names << QFileInfo(path).fileName();
  QString title = names.isEmpty() ? tr("Sonde") : names.mid(0, 4).join(QStringLiteral(", "));
  if (names.size() > 4)
    title += tr(" and %1 more").arg(names.size() - 4);
  if (models_.document.skeleton().unfinished)
    title += tr(" (unfinished recording, as it stood when it was opened)");
  if (models_.document.skeleton().replayed)
    title += tr(" (times of a replay)");
  setWindowTitle(names.isEmpty() ? title : title + QStringLiteral(" – Sonde"));
}

void MainWindow::showSelectionText() {
  QStringList parts;
  if (const auto& area = models_.view.area())
    parts << tr("span %1").arg(formatDuration(area->span.durNs()));
  if (const auto& details = models_.selection.details()) {
    const Block& block = details->event.block;
    parts << tr("selected %1").arg(lengthOf(block));
    const Arrows& arrows = details->arrows;
    if (arrows.toCount > static_cast<std::int64_t>(arrows.to.size()))
      parts << tr("%L1 of %L2 arrows drawn").arg(arrows.to.size()).arg(arrows.toCount);
    if (arrows.rankCount > static_cast<std::int64_t>(Arrows::kMax))
      parts << tr("%L1 of %L2 other ranks drawn").arg(arrows.ranks.size()).arg(arrows.rankCount);
  }
  if (models_.document.skeleton().lost > 0)
    parts << tr("%L1 records lost").arg(models_.document.skeleton().lost);
  if (parts.isEmpty() || !models_.selection.ref())
    parts << tr("? for keys");
  selectionText_->setText(parts.join(QStringLiteral("   ·   ")));
}

// In a narrow window the tabs of views can be scrolled, rather than all lose their names.
void MainWindow::childEvent(QChildEvent* event) {
  if (auto* tabs = qobject_cast<QTabBar*>(event->child()); tabs != nullptr && event->polished())
    tabs->setElideMode(Qt::ElideNone);
  QMainWindow::childEvent(event);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  event->setAccepted(files_->mayClose());
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls())
    event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  QStringList paths;
  for (const QUrl& url : event->mimeData()->urls())
    if (url.isLocalFile())
      paths << url.toLocalFile();
  if (!paths.isEmpty())
    open(paths);
}

}  // namespace sonde::gui
