// The frame around the views: their shared focus, the ways back, commands, pictures, layouts.
#include "analysis/store/database.h"
#include "gui/app/file_actions.h"
#include "gui/app/session.h"
#include "gui/views/breakdown/breakdown_view.h"
#include "gui/views/chart/bar_chart.h"
#include "gui/views/overview/overview_view.h"
#include "gui/views/table/table_panel.h"
#include "gui/views/tables/tables_view.h"
#include "gui/views/window/command_palette.h"
#include "gui/views/window/focus_bar.h"
#include "gui/views/window/welcome_page.h"
#include "tests/gui/window_rig.h"
#include "tests/support/trace_builder.h"

#include <QAction>
#include <QCommandLinkButton>
#include <QDockWidget>
#include <QFile>
#include <QFileInfo>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QSettings>
#include <QStatusBar>
#include <QSvgRenderer>
#include <QToolButton>
#include <QTreeView>

namespace sonde::gui {
namespace {

class WindowTest : public TimelineViewTest {
 protected:
  WindowTest() { openTraining(); }

  template <typename View>
  [[nodiscard]] View& viewOf(const char* word) {
    window_.showView(QLatin1String(word));
    settle();
    return *qobject_cast<View*>(window_.view(QLatin1String(word)));
  }
};

TEST_F(WindowTest, TablesFollowTheFocus) {
  auto& view = viewOf<OverviewView>("overview");
  const TablePanel* operations = nullptr;
  for (const TablePanel* each : view.findChildren<TablePanel*>())
    if (each->shown().sourceModel() == &view.operations())
      operations = each;
  ASSERT_NE(operations, nullptr);
  const int all = operations->shown().rowCount();
  window_.models().focus.set({1, {}, {}});
  EXPECT_GT(operations->shown().rowCount(), 0);
  EXPECT_LT(operations->shown().rowCount(), all);
  for (int row = 0; row < operations->shown().rowCount(); ++row)
    EXPECT_EQ(operations->shown().index(row, 2).data().toString(), "rank 1");
  window_.models().focus.set({{}, {}, QStringLiteral("no such name")});
  EXPECT_EQ(operations->shown().rowCount(), 0);
  window_.models().focus.clear();
  EXPECT_EQ(operations->shown().rowCount(), all);
}

TEST_F(WindowTest, TimelineLeavesOutOtherRanks) {
  const auto processes = [&] {
    std::set<int> shown;
    for (const LayoutEntry& entry : window_.models().timeline.layout().entries())
      shown.insert(entry.process);
    return shown;
  };
  const auto all = processes();
  window_.models().focus.set({1, {}, {}});
  for (const int process : processes()) {
    const auto& rank =
        window_.models().document.skeleton().processes[static_cast<std::size_t>(process)].rank;
    EXPECT_TRUE(!rank || rank == 1);
  }
  EXPECT_LT(processes().size(), all.size());
  window_.models().focus.set({77, {}, {}});  // no process has it
  EXPECT_EQ(processes(), all);
}

TEST_F(WindowTest, BreakdownIsThatOfTheFocusedRank) {
  auto& view = viewOf<BreakdownView>("breakdown");
  const auto sum = [&] {
    double total = 0;
    for (const Bar& bar : view.findChild<BarChart*>()->data().bars)
      for (const double value : bar.values)
        total += value;
    return total;
  };
  const double all = sum();
  double parts = 0;
  for (const std::int64_t rank : {0, 1}) {
    window_.models().focus.set({rank, {}, {}});
    settle();
    EXPECT_LT(sum(), all);
    parts += sum();
  }
  EXPECT_NEAR(parts, all, 1e-6 * all);
}

TEST_F(WindowTest, FocusBarShowsAndClearsTheFocus) {
  auto* bar = window_.findChild<FocusBar*>();
  QTest::keyClicks(&bar->text(), QStringLiteral("conv"));
  QTest::keyClick(&bar->text(), Qt::Key_Return);
  EXPECT_EQ(window_.models().focus.part().name, "conv");
  EXPECT_EQ(window_.models().search.text(), "conv");
  window_.models().focus.set({1, {}, QStringLiteral("conv")});
  for (QToolButton* button : bar->findChildren<QToolButton*>())
    if (button->isVisibleTo(bar) && button->text().startsWith(QLatin1String("rank 1")))
      button->click();
  EXPECT_FALSE(window_.models().focus.part().rank);
  EXPECT_EQ(window_.models().focus.part().name, "conv");
}

TEST_F(WindowTest, GoesBackToWhatWasShown) {
  ViewHistory& history = window_.models().history;
  EXPECT_FALSE(history.canGoBack());
  const Viewport whole = shown();
  window_.models().view.change(
      &Viewport::show, whole.beginNs() + 1'000'000, whole.beginNs() + 2'000'000, 0.0);
  window_.models().focus.set({1, {}, {}});
  QTest::qWait(500);
  const Viewport near = shown();
  window_.models().view.change(&Viewport::panNs, std::int64_t{3'000'000});
  history.goBack();
  EXPECT_EQ(shown().beginNs(), near.beginNs());
  EXPECT_EQ(window_.models().focus.part().rank, 1);
  history.goBack();
  EXPECT_EQ(shown().beginNs(), whole.beginNs());
  EXPECT_EQ(shown().endNs(), whole.endNs());
  EXPECT_TRUE(window_.models().focus.part().isAll());
  history.goForward();
  EXPECT_EQ(shown().beginNs(), near.beginNs());
  window_.models().view.change(&Viewport::panNs, std::int64_t{1'000'000});
  QTest::qWait(500);
  EXPECT_FALSE(history.canGoForward());
}

// A recording that goes on is read again and again.
TEST_F(WindowTest, ALaterStateKeepsWhatTheUserChose) {
  TraceModels& models = window_.models();
  const EventRef slice{Table::Slice, 1};
  models.focus.set({1, {}, {}});
  models.timeline.toggle(models.timeline.layout().entries().front());
  models.selection.select(slice);
  QTest::qWait(500);
  settle();
  ASSERT_TRUE(models.selection.details());
  const std::size_t lines = models.timeline.layout().entries().size();
  models.document.follow(models.document.paths());
  settle();
  ASSERT_TRUE(models.document.isContinued());
  EXPECT_EQ(models.timeline.layout().entries().size(), lines);
  EXPECT_EQ(models.selection.ref(), slice);
  EXPECT_TRUE(models.selection.details());
  EXPECT_TRUE(models.history.canGoBack());
}

// The tracks of a later state may have another order.
TEST_F(WindowTest, ALaterStateKeepsTheSelectedSpanOnItsTracks) {
  TraceModels& models = window_.models();
  const TrackInfo track = models.document.skeleton().tracks.front();
  models.view.setArea(
      Area{{models.document.skeleton().beginNs, models.document.skeleton().endNs}, {idOf(track)}});
  settle();
  const std::vector<SpanRow> rows = models.totals.rows();
  ASSERT_FALSE(rows.empty());
  QFile::copy(file("train.sonde"), file("later.sonde"));
  test::must(test::must(store::Database::open(path("later.sonde"), store::Access::ReadWrite))
                 .exec("UPDATE process SET rank = 1 - rank"));
  models.document.follow({file("later.sonde")});
  settle();
  ASSERT_NE(idOf(models.document.skeleton().tracks.front()), idOf(track));
  ASSERT_TRUE(models.view.area());
  EXPECT_TRUE(models.view.area()->covers(track));
  ASSERT_EQ(models.totals.rows().size(), rows.size());
  for (std::size_t at = 0; at < rows.size(); ++at)
    EXPECT_EQ(models.totals.rows()[at].totalNs, rows[at].totalNs);
}

TEST_F(WindowTest, PaletteFindsAnActionByWords) {
  QList<QAction*> actions;
  for (const QAction* menu : window_.menuBar()->actions())
    actions << menu->menu()->actions();
  CommandPalette palette(actions, &window_);
  palette.show();
  auto* text = palette.findChild<QLineEdit*>();
  QTest::keyClicks(text, QStringLiteral("what if"));
  QTest::keyClick(text, Qt::Key_Return);
  ASSERT_NE(palette.chosen(), nullptr);
  EXPECT_EQ(palette.chosen()->text(), "What if");
  palette.close();
  palette.chosen()->trigger();
  settle();
  EXPECT_EQ(window_.wordInFront(), "whatif");
}

TEST_F(WindowTest, DrawsAViewAsPngAndSvg) {
  window_.showView(QStringLiteral("overview"));
  settle();
  EXPECT_EQ(drawWidget(window_.viewInFront(), file("view.png")), "");
  EXPECT_EQ(QImage(file("view.png")).size(), window_.viewInFront().size());
  EXPECT_EQ(drawWidget(window_.viewInFront(), file("view.svg")), "");
  const QSvgRenderer svg(file("view.svg"));
  EXPECT_TRUE(svg.isValid());
  EXPECT_TRUE(
      drawWidget(window_.viewInFront(), file("no/view.png")).contains(QLatin1String("another")));
  EXPECT_TRUE(
      drawWidget(window_.viewInFront(), file("no/view.svg")).contains(QLatin1String("another")));
}

TEST_F(WindowTest, WritesTheSelectedSpanAsATrace) {
  FileActions& files = window_.files();
  window_.showTime({120'000'000, 160'000'000});
  const auto write = [&](const QString& path) {
    files.writeSpan(window_.models().view.area()->span, path);
    while (window_.statusBar()->currentMessage().startsWith(QLatin1String("Writing")))
      QTest::qWait(5);
    return window_.statusBar()->currentMessage();
  };
  EXPECT_EQ(write(file("part.sonde")), QLatin1String("Saved ") + file("part.sonde"));
  const std::size_t all = window_.models().document.skeleton().iterations.size();
  EXPECT_TRUE(write(file("no/part.sonde")).contains(file("no")));
  open("part.sonde");
  EXPECT_GT(window_.models().document.skeleton().iterations.size(), 0U);
  EXPECT_LT(window_.models().document.skeleton().iterations.size(), all);
}

TEST_F(WindowTest, NotesComeBackWithTheTrace) {
  const std::int64_t origin = window_.models().document.skeleton().originNs;
  const Span span{origin + 120'000'000, origin + 130'000'000};
  window_.models().notes.set(span, QStringLiteral("slow here"));
  window_.models().view.mark({origin, origin}, true);  // a mark is no note
  window_.models().view.mark(span, true);              // and leaves notes alone
  EXPECT_TRUE(QFile::exists(file("train.sonde.notes.json")));
  open("train.sonde");
  ASSERT_EQ(window_.models().view.marks().size(), 1U);
  EXPECT_EQ(window_.models().view.marks().front().note, "slow here");
  EXPECT_EQ(window_.models().view.marks().front().span, span);
  window_.models().notes.set(span, {});
  EXPECT_TRUE(window_.models().view.marks().empty());
  EXPECT_FALSE(QFile::exists(file("train.sonde.notes.json")));
}

TEST_F(WindowTest, SaysWhyNotesCannotBeRead) {
  QFile notes(file("train.sonde.notes.json"));
  ASSERT_TRUE(notes.open(QIODevice::WriteOnly));
  notes.write("no JSON");
  notes.close();
  open("train.sonde");
  EXPECT_TRUE(window_.statusBar()->currentMessage().contains(QLatin1String("notes.json")));
  EXPECT_TRUE(window_.models().view.marks().empty());
  const std::int64_t origin = window_.models().document.skeleton().originNs;
  window_.models().notes.set({origin, origin + 5}, QStringLiteral("not over the other file"));
  EXPECT_EQ(QFileInfo(notes).size(), 7);
}

TEST_F(WindowTest, ShowsATimeAndASpan) {
  const std::int64_t origin = window_.models().document.skeleton().originNs;
  window_.showTime({50'000'000, 80'000'000});
  EXPECT_LE(shown().beginNs(), origin + 50'000'000);
  EXPECT_GE(shown().endNs(), origin + 80'000'000);
  ASSERT_TRUE(window_.models().view.area());
  EXPECT_EQ(window_.models().view.area()->span.durNs(), 30'000'000);
  window_.showTime({100'000'000, 100'000'000});
  ASSERT_EQ(window_.models().view.marks().size(), 1U);
  EXPECT_EQ(window_.models().view.marks().front().span.beginNs, origin + 100'000'000);
}

TEST_F(TimelineViewTest, FirstPageOffersWhatToDo) {
  window_.showView(QStringLiteral("overview"));
  QSettings::setDefaultFormat(QSettings::IniFormat);
  QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, file("settings"));
  auto* const page = window_.findChild<WelcomePage*>();
  EXPECT_TRUE(page->isVisible());
  testing::writeTraining(path("train.sonde"), 3);
  window_.session().remember({file("train.sonde")});
  QCommandLinkButton* recent = nullptr;
  for (auto* link : page->findChildren<QCommandLinkButton*>())
    if (link->text() == QLatin1String("train.sonde"))
      recent = link;
  ASSERT_NE(recent, nullptr);
  recent->click();
  settle();
  EXPECT_EQ(window_.models().document.state(), TraceDocument::State::Ready);
  EXPECT_FALSE(page->isVisible());
}

class SessionTest : public WindowTest {
 protected:
  SessionTest() {
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, file("settings"));
  }
};

TEST_F(SessionTest, RemembersJobsThatStillExist) {
  Session& session = window_.session();
  EXPECT_TRUE(session.recent().isEmpty());
  ASSERT_TRUE(QFile::copy(file("train.sonde"), file("other.sonde")));
  session.remember({file("other.sonde")});
  session.remember({file("train.sonde")});
  session.remember({file("other.sonde")});
  ASSERT_EQ(session.recent().size(), 2);
  EXPECT_EQ(session.recent().front(), QStringList(file("other.sonde")));
  QFile::remove(file("other.sonde"));
  ASSERT_EQ(session.recent().size(), 1);
  EXPECT_EQ(session.recent().front(), QStringList(file("train.sonde")));
}

TEST_F(SessionTest, LayoutsComeBackByName) {
  const QString name = QStringLiteral("two / rows, 100 %");
  Session& session = window_.session();
  auto* dock = window_.findChild<QDockWidget*>(QStringLiteral("tables"));
  dock->setFloating(true);
  session.saveLayout(name);
  window_.resetLayout();
  EXPECT_FALSE(dock->isFloating());
  EXPECT_EQ(session.layouts(), QStringList(name));
  session.showLayout(name);
  EXPECT_TRUE(dock->isFloating());
  session.removeLayout(name);
  EXPECT_TRUE(session.layouts().isEmpty());
}

TEST_F(SessionTest, EachJobHasItsTracksAsTheyWereArranged) {
  window_.session().start();
  open("train.sonde");
  TimelineModel& timeline = window_.models().timeline;
  TrackArrangement wanted;
  wanted.grouping = TrackArrangement::Grouping::Kind;
  wanted.pinned = {idOf(window_.models().document.skeleton().tracks.front())};
  timeline.arrange(wanted);
  testing::writeTraining(path("other.sonde"), 2);
  open("other.sonde");
  EXPECT_TRUE(timeline.arrangement().pinned.empty());
  open("train.sonde");
  EXPECT_EQ(timeline.arrangement(), wanted);
  // Without a trace of its own, a new window has the last groups.
  MainWindow second;
  second.session().start();
  EXPECT_EQ(second.models().timeline.arrangement().grouping, wanted.grouping);
  EXPECT_TRUE(second.models().timeline.arrangement().pinned.empty());
}

TEST_F(SessionTest, KeepsNothingUnlessStarted) {
  window_.close();
  EXPECT_TRUE(QSettings().allKeys().isEmpty());
  window_.show();
  window_.session().start();
  window_.close();
  EXPECT_FALSE(QSettings().allKeys().isEmpty());
}

}  // namespace
}  // namespace sonde::gui
