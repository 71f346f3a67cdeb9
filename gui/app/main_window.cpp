#include "gui/app/main_window.h"

#include "gui/trace/time_format.h"
#include "gui/views/help_overlay.h"
#include "gui/views/legend_bar.h"
#include "gui/views/overview_strip.h"
#include "gui/views/search_bar.h"
#include "gui/views/timeline_view.h"
#include "gui/views/track_finder.h"

#include <QAction>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QMimeData>
#include <QStatusBar>
#include <QTableView>
#include <QTreeView>
#include <QVBoxLayout>

namespace sonde::gui {

MainWindow::MainWindow() {
  setAcceptDrops(true);
  buildLayout();
  buildDocks();
  buildActions();
  connectModel();
  connectViews();
  showTitle();
}

void MainWindow::buildLayout() {
  auto* central = new QWidget;
  auto* layout = new QVBoxLayout(central);
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
  setCentralWidget(central);
  help_ = new HelpOverlay(central);
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
  timeline_->setFocus();
}

void MainWindow::buildDocks() {
  detailsTree_ = new QTreeView;
  detailsTree_->setModel(&details_);
  detailsTree_->setUniformRowHeights(true);
  detailsTree_->setAlternatingRowColors(true);
  detailsTree_->setIndentation(12);
  detailsTree_->header()->setSectionResizeMode(0, QHeaderView::Interactive);
  detailsTree_->header()->resizeSection(0, 160);
  detailsTree_->header()->setStretchLastSection(true);
  detailsDock_ = new QDockWidget(tr("Details"));
  detailsDock_->setObjectName(QStringLiteral("details"));
  detailsDock_->setWidget(detailsTree_);
  addDockWidget(Qt::RightDockWidgetArea, detailsDock_);
  resizeDocks({detailsDock_}, {430}, Qt::Horizontal);
  detailsDock_->hide();

  spanTable_ = new QTableView;
  spanTable_->setModel(&span_);
  spanTable_->setSortingEnabled(true);
  spanTable_->sortByColumn(SpanModel::Total, Qt::DescendingOrder);
  spanTable_->setSelectionBehavior(QAbstractItemView::SelectRows);
  spanTable_->setAlternatingRowColors(true);
  spanTable_->setShowGrid(false);
  spanTable_->verticalHeader()->hide();
  spanTable_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  spanTable_->horizontalHeader()->setSectionResizeMode(SpanModel::Name, QHeaderView::Stretch);
  spanTable_->horizontalHeader()->resizeSection(SpanModel::What, 160);
  spanDock_ = new QDockWidget(tr("Selected span"));
  spanDock_->setObjectName(QStringLiteral("span"));
  spanDock_->setWidget(spanTable_);
  addDockWidget(Qt::BottomDockWidgetArea, spanDock_);
  resizeDocks({spanDock_}, {200}, Qt::Vertical);
  spanDock_->hide();
}

void MainWindow::buildActions() {
  // One-letter keys belong to the timeline: in the search line they are letters.
  const auto add =
      [this](QWidget* owner, const QString& text, const QList<QKeySequence>& keys, auto slot) {
        auto* action = new QAction(text, owner);
        action->setShortcuts(keys);
        action->setShortcutContext(owner == this ? Qt::WindowShortcut
                                                 : Qt::WidgetWithChildrenShortcut);
        connect(action, &QAction::triggered, this, slot);
        owner->addAction(action);
      };
  add(this, tr("Open traces"), {QKeySequence::Open}, [this] { chooseFiles(); });
  add(this, tr("Find a track"), {Qt::CTRL | Qt::Key_P}, [this] { findTrack(); });
  add(this, tr("Quit"), {QKeySequence::Quit}, [this] { close(); });
  add(timeline_, tr("Search"), {Qt::Key_Slash}, [this] { search_->activate(); });
  // Only some platforms report the shift of a "?".
  add(timeline_, tr("Keys"), {Qt::Key_Question, Qt::SHIFT | Qt::Key_Question}, [this] {
    help_->show();
  });
  add(timeline_, tr("Details"), {Qt::Key_Q}, [this] { toggleDetails(); });
  add(timeline_, tr("Colours"), {Qt::Key_C}, [this] { toggleColors(); });
  add(timeline_, tr("Tracks without events"), {Qt::Key_E}, [this] {
    models_.timeline.showEmptyThreads(!models_.timeline.layout().showsEmpty());
  });
}

void MainWindow::connectModel() {
  connect(&models_.document, &TraceDocument::opened, this, [this] {
    everOpened_ = true;
    showTitle();
    showSelectionText();
  });
  connect(&models_.document, &TraceDocument::failed, this, [this](const QString& message) {
    statusBar()->showMessage(message, 10'000);
    timeline_->viewport()->update();
  });
  connect(&models_.selection, &Selection::detailsChanged, this, &MainWindow::showDetails);
  connect(&models_.selection, &Selection::changed, this, [this] {
    if (!models_.selection.ref()) {
      details_.clear();
      detailsDock_->hide();
    }
    showSelectionText();
  });
  connect(&models_.totals, &SpanTotals::changed, this, &MainWindow::showSpan);
  connect(&models_.search,
          &NameSearch::finished,
          search_,
          qOverload<const SearchReply&>(&SearchBar::show));
}

void MainWindow::connectViews() {
  connect(&models_.view, &ViewState::areaChanged, this, &MainWindow::showSelectionText);
  connect(timeline_, &TimelineView::hovered, hoverText_, &QLabel::setText);
  connect(timeline_, &TimelineView::labelWidthChanged, overview_, &OverviewStrip::setLabelWidth);
  connect(search_, &SearchBar::wanted, this, [this](const QString& text, bool forward) {
    models_.search.find(text, forward, models_.view.viewport().beginNs());
  });
  connect(search_, &SearchBar::closed, this, [this] {
    models_.search.clear();
    timeline_->setFocus();
  });
}

void MainWindow::open(const QStringList& paths) {
  details_.clear();
  detailsDock_->hide();
  spanDock_->hide();
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

void MainWindow::showDetails(bool moved) {
  details_.show(models_.selection.details()->sections);
  detailsTree_->expandAll();
  for (int row = 0; row < details_.rowCount({}); ++row)
    detailsTree_->setFirstColumnSpanned(row, {}, true);
  if (detailsWanted_)
    detailsDock_->show();
  if (moved)
    timeline_->bringIntoView(models_.selection.details()->event);
  showSelectionText();
}

void MainWindow::toggleDetails() {
  detailsWanted_ = !detailsWanted_;
  detailsDock_->setVisible(detailsWanted_ && models_.selection.details().has_value());
  spanDock_->setVisible(detailsWanted_ && !models_.totals.rows().empty());
}

void MainWindow::toggleColors() {
  const bool byName = timeline_->colorBy() == ColorBy::Kind;
  timeline_->setColorBy(byName ? ColorBy::Name : ColorBy::Kind);
  legend_->setVisible(!byName);
}

void MainWindow::showSpan() {
  const auto& area = models_.view.area();
  if (!area || models_.totals.rows().empty()) {
    spanDock_->hide();
    return;
  }
  span_.show(models_.totals.rows(), area->span.durNs());
  spanTable_->sortByColumn(SpanModel::Total, Qt::DescendingOrder);
  spanDock_->setWindowTitle(tr("Selected span  ·  %1").arg(formatDuration(area->span.durNs())));
  if (detailsWanted_)
    spanDock_->show();
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
  }
  if (models_.document.skeleton().lost > 0)
    parts << tr("%L1 records lost").arg(models_.document.skeleton().lost);
  if (parts.isEmpty() || !models_.selection.ref())
    parts << tr("? for keys");
  selectionText_->setText(parts.join(QStringLiteral("   ·   ")));
}

void MainWindow::chooseFiles() {
  const QStringList paths = QFileDialog::getOpenFileNames(
      this, tr("Open traces"), {}, tr("Sonde traces (*.sonde *.part);;All files (*)"));
  if (!paths.isEmpty())
    open(paths);
}

void MainWindow::findTrack() {
  if (!models_.document.ready())
    return;
  TrackFinder finder(models_.document.skeleton(), this);
  connect(&finder, &TrackFinder::chosen, timeline_, &TimelineView::scrollToTrack);
  finder.exec();
  timeline_->setFocus();
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
