#include "gui/app/window_menus.h"

#include "gui/app/details_docks.h"
#include "gui/app/file_actions.h"
#include "gui/app/main_window.h"
#include "gui/app/session.h"
#include "gui/app/view_list.h"
#include "gui/views/graph/graph_view.h"
#include "gui/views/help_overlay.h"
#include "gui/views/search_bar.h"
#include "gui/views/time_input.h"
#include "gui/views/timeline_panel.h"
#include "gui/views/timeline_view.h"
#include "gui/views/tracks/track_commands.h"
#include "gui/views/window/command_palette.h"
#include "gui/views/window/focus_bar.h"

#include <QAction>
#include <QFileInfo>
#include <QInputDialog>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QStyle>
#include <QToolBar>

#include <vector>

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

QString plainText(const QAction& action) {
  return action.text().remove(u'&').remove(u'…');
}

}  // namespace

WindowMenus::WindowMenus(MainWindow& window, TimelinePanel& timeline, FileActions& files)
    : QObject(&window), window_(window), timeline_(timeline), files_(files) {
  buildFile();
  buildView();
  buildTimeline();
  buildGo();
  buildToolBar();
  buildHelp();
  showHistory();
  for (QAction* action : std::as_const(actions_)) {
    const QString keys = keysOf(*action);
    action->setToolTip(keys.isEmpty() ? plainText(*action)
                                      : QStringLiteral("%1 (%2)").arg(plainText(*action), keys));
  }
  showTimes();
}

QAction* WindowMenus::add(QMenu* menu,
                          const QString& text,
                          const Keys& keys,
                          const std::function<void()>& run) {
  QAction* action = menu->addAction(text);
  action->setShortcuts(keys);
  connect(action, &QAction::triggered, this, run);
  actions_ << action;
  return action;
}

QAction* WindowMenus::addToTimeline(QMenu* menu,
                                    const QString& text,
                                    const Keys& keys,
                                    const std::function<void()>& run) {
  QAction* action = add(menu, text, keys, run);
  action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  timeline_.addAction(action);
  return action;
}

void WindowMenus::buildFile() {
  QMenu* menu = window_.menuBar()->addMenu(tr("&File"));
  open_ = add(menu, tr("&Open traces…"), {Qt::CTRL | Qt::Key_O}, [this] { files_.choose(); });
  open_->setIcon(window_.style()->standardIcon(QStyle::SP_DialogOpenButton));
  recent_ = menu->addMenu(tr("Open &recent"));
  connect(recent_, &QMenu::aboutToShow, this, &WindowMenus::showRecent);
  add(menu, tr("Rec&ord a training…"), {Qt::CTRL | Qt::Key_R}, [this] { files_.record(); });
  stop_ = add(menu, tr("S&top opening"), {}, [this] { window_.models().document.cancelOpening(); });
  stop_->setEnabled(false);
  connect(&window_.models().document, &TraceDocument::replaced, this, [this] {
    stop_->setEnabled(window_.models().document.state() == TraceDocument::State::Loading);
  });
  add(menu, tr("Save the &view as a picture…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_S}, [this] {
    files_.savePicture();
  });
  add(menu, tr("Save the selected &span as a trace…"), {}, [this] { files_.saveSpan(); });
  menu->addSeparator();
  add(menu, tr("&Quit"), {Qt::CTRL | Qt::Key_Q}, [this] { window_.close(); });
}

void WindowMenus::buildView() {
  QMenu* menu = window_.menuBar()->addMenu(tr("&View"));
  int number = 0;
  for (const ViewInfo& info : views()) {
    const QString word = QLatin1String(info.word);
    ++number;
    const Keys keys = number <= 9
                          ? Keys{QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_0 + number))}
                          : Keys();
    add(menu, tr(info.title), keys, [this, word] {
      window_.showView(word);
    })->setStatusTip(tr(info.purpose));
  }
  menu->addSeparator();
  addToTimeline(
      menu, tr("&Details and totals"), {Qt::Key_Q}, [this] { window_.details().toggle(); });
  addToTimeline(
      menu, tr("&Colours by kind or name"), {Qt::Key_C}, [this] { timeline_.toggleColors(); });
  addToTimeline(
      menu, tr("&Tracks without events"), {Qt::Key_E}, [this] { timeline_.toggleEmptyTracks(); });
  addToTimeline(menu, tr("Critical &path over the timeline"), {Qt::Key_P}, [this] {
    auto* graph = qobject_cast<GraphView*>(window_.view(QStringLiteral("graph")));
    graph->showInTimeline(!graph->isInTimeline());
  });
  menu->addSeparator();
  buildTimes(menu);
  buildThemes(menu->addMenu(tr("&Theme")));
  menu->addSeparator();
  add(menu, tr("&All views as tabs again"), {}, [this] { window_.resetLayout(); });
  add(menu, tr("&Save the layout…"), {}, [this] { saveLayout(); });
  layouts_ = menu->addMenu(tr("Saved &layouts"));
  connect(layouts_, &QMenu::aboutToShow, this, &WindowMenus::showLayouts);
}

void WindowMenus::buildThemes(QMenu* menu) {
  const auto choose = [this](Look look) {
    return [this, look] { window_.session().chooseLook(look); };
  };
  add(menu, tr("Theme of the &desktop"), {}, choose(Look::System));
  add(menu, tr("&Light theme"), {}, choose(Look::Light));
  add(menu, tr("Da&rk theme"), {}, choose(Look::Dark));
}

void WindowMenus::buildTimes(QMenu* menu) {
  TraceModels& models = window_.models();
  times_ = add(menu, tr("Co&rrected times"), {Qt::CTRL | Qt::Key_T}, [this, &models] {
    models.times.setCorrected(times_->isChecked());
  });
  times_->setCheckable(true);
  connect(&models.times, &TimeBasis::changed, this, &WindowMenus::showTimes);
  connect(&models.document, &TraceDocument::replaced, this, &WindowMenus::showTimes);
}

// The menu of a line has the same commands.
void WindowMenus::buildTimeline() {
  QMenu* menu = window_.menuBar()->addMenu(tr("&Timeline"));
  TraceModels& models = window_.models();
  for (const TrackCommand& command : trackCommands()) {
    QAction* action = addToTimeline(
        menu, command.text(models, nullptr), {QKeySequence(command.key)}, [this, &command] {
          const auto line = timeline_.timeline().currentLine();
          runCommand(command, window_.models(), line ? &*line : nullptr);
        });
    connect(&models.timeline, &TimelineModel::layoutChanged, action, [action, &command, &models] {
      action->setText(command.text(models, nullptr));
    });
  }
  menu->addSeparator();
  actions_ << addTrackChoices(*menu, models);
}

void WindowMenus::buildGo() {
  QMenu* menu = window_.menuBar()->addMenu(tr("&Go"));
  ViewHistory& history = window_.models().history;
  back_ = add(menu,
              tr("&Back"),
              {QKeySequence(Qt::ALT | Qt::Key_Left), QKeySequence(Qt::CTRL | Qt::Key_Z)},
              [&history] { history.goBack(); });
  back_->setIcon(window_.style()->standardIcon(QStyle::SP_ArrowBack));
  forward_ =
      add(menu,
          tr("&Forward"),
          {QKeySequence(Qt::ALT | Qt::Key_Right), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z)},
          [&history] { history.goForward(); });
  forward_->setIcon(window_.style()->standardIcon(QStyle::SP_ArrowForward));
  connect(&history, &ViewHistory::changed, this, &WindowMenus::showHistory);
  menu->addSeparator();
  addToTimeline(menu, tr("&Search events"), {Qt::Key_Slash}, [this] {
    window_.showView(QStringLiteral("timeline"));
    timeline_.search().activate();
  });
  addToTimeline(menu, tr("Write a &note…"), {Qt::Key_N}, [this] { writeNote(); });
  notes_ = menu->addMenu(tr("N&otes"));
  connect(notes_, &QMenu::aboutToShow, this, &WindowMenus::showNotes);
  add(menu, tr("&Find a track"), {Qt::CTRL | Qt::Key_P}, [this] {
    window_.showView(QStringLiteral("timeline"));
    timeline_.findTrack();
  });
  add(menu, tr("Filter all &views by a name"), {Qt::CTRL | Qt::Key_L}, [this] {
    focusBar_->activate();
  });
  add(menu, tr("Show &all again"), {Qt::CTRL | Qt::SHIFT | Qt::Key_L}, [this] {
    window_.models().focus.clear();
    window_.models().view.setArea(std::nullopt);
  });
}

void WindowMenus::buildToolBar() {
  auto* bar = window_.addToolBar(tr("Tools"));
  bar->setObjectName(QStringLiteral("tools"));
  bar->setMovable(false);
  bar->setContextMenuPolicy(Qt::PreventContextMenu);
  const int side = window_.fontMetrics().height();
  bar->setIconSize({side, side});
  focusBar_ = new FocusBar(window_.models());
  bar->addAction(open_);
  bar->addAction(back_);
  bar->addAction(forward_);
  bar->addSeparator();
  bar->addAction(times_);
  bar->addWidget(focusBar_);
}

// All keys that exist: those of the actions in the menus, and the timeline's.
void WindowMenus::buildHelp() {
  QMenu* menu = window_.menuBar()->addMenu(tr("&Help"));
  palette_ =
      add(menu, tr("&Commands…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_P}, [this] { showPalette(); });
  // Only some platforms report the shift of a "?". In a text it is a letter.
  add(menu, tr("&Keys"), {Qt::Key_Question, Qt::SHIFT | Qt::Key_Question, Qt::Key_F1}, [this] {
    help_->show();
  });
  std::vector<HelpLine> lines;
  for (const QAction* action : std::as_const(actions_))
    if (!action->shortcut().isEmpty())
      lines.push_back({keysOf(*action), plainText(*action)});
  for (const TimeKey& each : timeKeys()) {
    QStringList keys;
    for (const int key : each.keys)
      if (key != 0)
        keys << QKeySequence(key).toString(QKeySequence::NativeText);
    lines.push_back({keys.join(QStringLiteral(", ")), tr(each.text)});
  }
  lines.push_back({tr("Ctrl + wheel"), tr("zoom at the mouse; over the ruler also without Ctrl")});
  lines.push_back({tr("Shift + wheel, Shift + drag"), tr("move in time")});
  lines.push_back(
      {tr("drag"), tr("select a span: views show only that time, and its totals by name")});
  lines.push_back({tr("click, double click"), tr("select an event, zoom to it")});
  help_ = new HelpOverlay(std::move(lines), &window_);
}

void WindowMenus::showPalette() {
  CommandPalette palette(actions_, &window_);
  if (palette.exec() == QDialog::Accepted && palette.chosen() != nullptr)
    palette.chosen()->trigger();
}

void WindowMenus::showRecent() {
  recent_->clear();
  for (const QStringList& paths : window_.session().recent()) {
    QStringList names;
    for (const QString& path : paths)
      names << QFileInfo(path).fileName();
    QAction* action = recent_->addAction(names.join(QStringLiteral(", ")),
                                         [this, paths] { window_.open(paths); });
    action->setStatusTip(paths.join(QStringLiteral(", ")));
  }
  if (recent_->isEmpty())
    recent_->addAction(tr("No trace was opened yet"))->setEnabled(false);
}

// On the selected event or span, else on the middle of the window.
void WindowMenus::writeNote() {
  TraceModels& models = window_.models();
  if (!models.document.ready())
    return;
  const QStringList trace = models.document.paths();
  const Viewport& shown = models.view.viewport();
  const std::int64_t middle = shown.beginNs() + shown.spanNs() / 2;
  const Span span = selectedSpan(models).value_or(Span{middle, middle});
  QString before;
  for (const Mark& mark : models.view.marks())
    if (mark.span == span)
      before = mark.note;
  bool isWanted = false;
  const QString text = QInputDialog::getText(&window_,
                                             tr("Write a note"),
                                             tr("Note (empty: remove it):"),
                                             QLineEdit::Normal,
                                             before,
                                             &isWanted);
  // Meanwhile another trace may have been opened.
  if (isWanted && models.document.paths() == trace)
    models.notes.set(span, text.trimmed());
}

void WindowMenus::showNotes() {
  notes_->clear();
  for (const Mark& mark : window_.models().view.marks())
    if (!mark.note.isEmpty())
      notes_->addAction(mark.note, [this, span = mark.span] { window_.showNote(span); });
  if (notes_->isEmpty())
    notes_->addAction(tr("No note was written yet"))->setEnabled(false);
}

void WindowMenus::saveLayout() {
  const QString name = QInputDialog::getText(
      &window_, tr("Save the layout"), tr("Name of the arrangement of all views:"));
  if (!name.trimmed().isEmpty())
    window_.session().saveLayout(name.trimmed());
}

void WindowMenus::showLayouts() {
  layouts_->clear();
  Session& session = window_.session();
  const QStringList names = session.layouts();
  for (const QString& name : names)
    layouts_->addAction(name, [&session, name] { session.showLayout(name); });
  if (names.isEmpty()) {
    layouts_->addAction(tr("No layout was saved yet"))->setEnabled(false);
    return;
  }
  QMenu* remove = layouts_->addMenu(tr("Remove"));
  for (const QString& name : names)
    remove->addAction(name, [&session, name] { session.removeLayout(name); });
}

void WindowMenus::showHistory() {
  const ViewHistory& history = window_.models().history;
  back_->setEnabled(history.canGoBack());
  forward_->setEnabled(history.canGoForward());
}

// The button of the tool bar has the name of what is shown.
void WindowMenus::showTimes() {
  const TimeBasis& times = window_.models().times;
  times_->setEnabled(times.canCorrect());
  times_->setChecked(times.isCorrected());
  times_->setIconText(times.isCorrected() ? tr("Corrected times") : tr("Raw times"));
  times_->setToolTip(QStringLiteral("%1 (%2)\n%3")
                         .arg(tr("Times without the cost of recording, or as recorded"),
                              keysOf(*times_),
                              times.explanation()));
}

}  // namespace sonde::gui
