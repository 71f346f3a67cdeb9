#include "gui/app/main_window.h"

#include "gui/app/view_list.h"
#include "gui/trace/time_format.h"
#include "gui/views/help_overlay.h"
#include "gui/views/search_bar.h"
#include "gui/views/time_input.h"
#include "gui/views/timeline_panel.h"
#include "gui/views/timeline_view.h"

#include <QAction>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QMenuBar>
#include <QMimeData>
#include <QStatusBar>
#include <QTableView>
#include <QTreeView>
#include <QVBoxLayout>

namespace sonde::gui {

namespace {

// "?, F1"; the shift of a "?" is none of its own.
QString keysOf(const QAction& action) {
  QStringList keys;
  for (const QKeySequence& key : action.shortcuts())
    if (key != QKeySequence(Qt::SHIFT | Qt::Key_Question))
      keys << key.toString(QKeySequence::NativeText);
  return keys.join(QStringLiteral(", "));
}

}  // namespace

MainWindow::MainWindow() {
  setAcceptDrops(true);
  setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks | GroupedDragging);
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  setCorner(Qt::TopRightCorner, Qt::RightDockWidgetArea);
  setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
  buildViews();
  buildStatusBar();
  buildDetails();
  buildSpan();
  buildMenus();
  connectModel();
  buildHelp();
  showTitle();
  showView(QLatin1String(views().front().word));
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
    connect(panel, &Panel::viewWanted, this, &MainWindow::showView);
    connect(dock, &QDockWidget::visibilityChanged, panel, &Panel::setShown);
    dock->setWidget(panel);
  }
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

void MainWindow::buildDetails() {
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
}

void MainWindow::buildSpan() {
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

void MainWindow::buildMenus() {
  const auto add = [this](QMenu* menu,
                          const QString& text,
                          const QList<QKeySequence>& keys,
                          void (MainWindow::*slot)()) {
    QAction* action = menu->addAction(text);
    action->setShortcuts(keys);
    connect(action, &QAction::triggered, this, slot);
  };
  QMenu* file = menuBar()->addMenu(tr("&File"));
  add(file, tr("&Open traces…"), {QKeySequence::Open}, &MainWindow::chooseFiles);
  add(file, tr("&Save a picture…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_S}, &MainWindow::savePicture);
  QAction* quit = file->addAction(tr("&Quit"), this, [this] { close(); });
  quit->setShortcuts({QKeySequence::Quit});
  QMenu* view = menuBar()->addMenu(tr("&View"));
  int number = 0;
  for (const ViewInfo& info : views()) {
    const QString word = QLatin1String(info.word);
    QAction* action = view->addAction(tr(info.title), this, [this, word] { showView(word); });
    action->setStatusTip(tr(info.purpose));
    if (++number <= 9)
      action->setShortcut(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_0 + number));
  }
  view->addSeparator();
  buildTimelineActions(view, menuBar()->addMenu(tr("&Go")));
}

// One-letter keys belong to the timeline: in a text they are letters.
void MainWindow::buildTimelineActions(QMenu* view, QMenu* go) {
  const auto add =
      [this](QMenu* menu, const QString& text, const QList<QKeySequence>& keys, auto slot) {
        auto* action = new QAction(text, timeline_);
        action->setShortcuts(keys);
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        connect(action, &QAction::triggered, this, slot);
        timeline_->addAction(action);
        menu->addAction(action);
      };
  add(view, tr("&Details and totals"), {Qt::Key_Q}, [this] { toggleDetails(); });
  add(view, tr("&Colours by kind or name"), {Qt::Key_C}, [this] { timeline_->toggleColors(); });
  add(view, tr("&Tracks without events"), {Qt::Key_E}, [this] { timeline_->toggleEmptyTracks(); });
  add(go, tr("&Search events"), {Qt::Key_Slash}, [this] {
    showView(QStringLiteral("timeline"));
    timeline_->search().activate();
  });
  QAction* find = go->addAction(tr("&Find a track"), this, [this] {
    showView(QStringLiteral("timeline"));
    timeline_->findTrack();
  });
  find->setShortcut(Qt::CTRL | Qt::Key_P);
  QAction* keys =
      menuBar()->addMenu(tr("&Help"))->addAction(tr("&Keys"), this, [this] { help_->show(); });
  // Only some platforms report the shift of a "?". In a text it is a letter.
  keys->setShortcuts({Qt::Key_Question, Qt::SHIFT | Qt::Key_Question, Qt::Key_F1});
}

// All keys that exist: those of the actions in the menus, and the timeline's.
void MainWindow::buildHelp() {
  std::vector<HelpLine> lines;
  for (const QAction* menu : menuBar()->actions())
    for (const QAction* action : menu->menu()->actions())
      if (!action->shortcut().isEmpty())
        lines.push_back({keysOf(*action), action->text().remove(u'&').remove(u'…')});
  for (const TimeKey& each : timeKeys()) {
    QStringList keys;
    for (const int key : each.keys)
      if (key != 0)
        keys << QKeySequence(key).toString(QKeySequence::NativeText);
    lines.push_back({keys.join(QStringLiteral(", ")), tr(each.text)});
  }
  lines.push_back({tr("Ctrl + wheel"), tr("zoom at the mouse; over the ruler also without Ctrl")});
  lines.push_back({tr("Shift + wheel, Shift + drag"), tr("move in time")});
  lines.push_back({tr("drag"), tr("select a span: its length, and totals by name")});
  lines.push_back({tr("click, double click"), tr("select an event, zoom to it")});
  help_ = new HelpOverlay(std::move(lines), this);
}

void MainWindow::connectModel() {
  connect(&models_.document, &TraceDocument::opened, this, [this] {
    everOpened_ = true;
    showTitle();
    showSelectionText();
  });
  connect(&models_.document, &TraceDocument::failed, this, [this](const QString& message) {
    statusBar()->showMessage(message, 10'000);
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
  connect(&models_.view, &ViewState::areaChanged, this, &MainWindow::showSelectionText);
  connect(&timeline(), &TimelineView::hovered, hoverText_, &QLabel::setText);
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

void MainWindow::showPlace(const Place& place) {
  constexpr double kMargin = 0.2;
  if (place.rank || !place.operation.isEmpty() || !place.name.isEmpty())
    models_.focus.set({place.rank, place.operation, place.name});
  if (!place.span && !place.event && place.name.isEmpty())
    return;
  showView(QStringLiteral("timeline"));
  if (place.span)
    models_.view.change(&Viewport::show, place.span->beginNs, place.span->endNs, kMargin);
  if (place.event)
    models_.selection.moveTo(*place.event);
  if (!place.span && !place.event)
    models_.search.find(place.name, true, models_.view.viewport().beginNs());
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
    timeline().bringIntoView(models_.selection.details()->event);
  showSelectionText();
}

void MainWindow::toggleDetails() {
  detailsWanted_ = !detailsWanted_;
  detailsDock_->setVisible(detailsWanted_ && models_.selection.details().has_value());
  spanDock_->setVisible(detailsWanted_ && !models_.totals.rows().empty());
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

void MainWindow::savePicture() {
  const QString path = QFileDialog::getSaveFileName(this,
                                                    tr("Save a picture of the window"),
                                                    QStringLiteral("sonde.png"),
                                                    tr("Pictures (*.png)"));
  if (!path.isEmpty() && !grab().save(path, "PNG"))
    statusBar()->showMessage(tr("%1 could not be written: choose another folder").arg(path),
                             10'000);
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
