// Recording from the window: real jobs under the real launcher.
#include "gui/app/file_actions.h"
#include "gui/views/record/record_dialog.h"
#include "tests/gui/window_rig.h"

#include <QApplication>
#include <QCheckBox>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>
#include <QTimer>

namespace sonde::gui {
namespace {

class RecordTest : public TimelineViewTest {
 protected:
  RecordTest() : path_(qgetenv("PATH")) {
    qputenv("PATH", QFileInfo(QStringLiteral(SONDE_PROGRAM)).absolutePath().toUtf8() + ":" + path_);
  }
  ~RecordTest() override { qputenv("PATH", path_); }
  RecordTest(const RecordTest&) = delete;
  RecordTest& operator=(const RecordTest&) = delete;

  void record(const QString& command) {
    RecordingPlan plan;
    plan.command = command;
    plan.output = file("run.sonde");
    recorder().setPlan(plan);
    recorder().start();
  }
  void waitForEnd() {
    while (recorder().isRunning())
      QTest::qWait(20);
    settle();
  }

  // Records with the window following, until it shows the unfinished trace.
  void follow(const QString& command) {
    recorder().findChild<QCheckBox*>(QStringLiteral("follows"))->setChecked(true);
    record(command);
    ASSERT_TRUE(QTest::qWaitFor(
        [this] {
          recorder().tellGrowth();
          return !window_.models().document.skeleton().processes.empty();
        },
        4'000));
  }
  // Presses this button of the next question.
  static void answer(const QString& text) {
    QTimer::singleShot(100, qApp, [text] {
      const auto* question = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
      ASSERT_NE(question, nullptr);
      for (QAbstractButton* each : question->buttons())
        if (each->text() == text)
          each->click();
    });
  }
  [[nodiscard]] RecordDialog& recorder() { return window_.files().recorder(); }

  QByteArray path_;
};

TEST_F(RecordTest, RunsTheJobAndOpensItsTrace) {
  record(QStringLiteral("sh -c 'echo one; sleep 0.2; echo two'"));
  EXPECT_TRUE(recorder().isRunning()) << recorder().state().toStdString();
  waitForEnd();
  EXPECT_TRUE(recorder().output().contains(QLatin1String("two")));
  ASSERT_EQ(window_.models().document.state(), TraceDocument::State::Ready)
      << recorder().output().toStdString();
  EXPECT_EQ(window_.models().document.paths(), QStringList(file("run.sonde")));
  EXPECT_FALSE(window_.models().document.skeleton().processes.empty());
}

TEST_F(RecordTest, EndsTheJobAndKeepsItsTrace) {
  record(QStringLiteral("sleep 100"));
  QTest::qWait(500);
  recorder().stop();
  waitForEnd();
  EXPECT_EQ(window_.models().document.state(), TraceDocument::State::Ready)
      << recorder().output().toStdString();
}

// An old trace of that name is not the result of a run that did not start.
TEST_F(RecordTest, TellsAnOldTraceFromItsOwn) {
  testing::writeTraining(path("run.sonde"), 2);
  RecordingPlan plan;
  plan.command = QStringLiteral("true");
  plan.output = file("run.sonde");
  plan.rules = file("no-such-rules.toml");
  recorder().setPlan(plan);
  recorder().start();
  EXPECT_FALSE(recorder().isRunning());
  EXPECT_TRUE(recorder().state().contains(QLatin1String("exists")));
  plan.replaces = true;
  recorder().setPlan(plan);
  recorder().start();
  waitForEnd();
  EXPECT_EQ(window_.models().document.state(), TraceDocument::State::Empty);
  EXPECT_TRUE(recorder().state().contains(QLatin1String("no-such-rules.toml")))
      << recorder().state().toStdString();
  plan.rules.clear();
  plan.folder = file("no-such-folder");
  recorder().setPlan(plan);
  recorder().start();
  EXPECT_TRUE(recorder().state().contains(QLatin1String("no-such-folder")));
}

TEST_F(RecordTest, FollowsTheRecordingAndKeepsTheView) {
  follow(QStringLiteral("sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sleep 0.5; true; done'"));
  TraceDocument& document = window_.models().document;
  ASSERT_EQ(document.paths(), QStringList(file("run.sonde.part")));
  EXPECT_TRUE(document.skeleton().unfinished);
  window_.models().view.change(&Viewport::zoomAt, 100.0, 0.5);
  window_.models().focus.set({{}, {}, QStringLiteral("sleep")});
  const std::int64_t shownNs = window_.models().view.viewport().beginNs();
  const Span noted{shownNs, shownNs + 1000};
  window_.models().notes.set(noted, QStringLiteral("here"));
  waitForEnd();
  ASSERT_EQ(document.paths(), QStringList(file("run.sonde")));
  EXPECT_FALSE(document.skeleton().unfinished);
  EXPECT_EQ(window_.models().view.viewport().beginNs(), shownNs);
  EXPECT_EQ(window_.models().focus.part().name, QLatin1String("sleep"));
  ASSERT_EQ(window_.models().view.marks().size(), 1U);
  EXPECT_EQ(window_.models().view.marks().front().note, QLatin1String("here"));
  EXPECT_TRUE(QFileInfo::exists(file("run.sonde.notes.json")));
}

// The window shows what the user has opened meanwhile.
TEST_F(RecordTest, ReplacesNoOtherTrace) {
  testing::writeTraining(path("other.sonde"), 2);
  record(QStringLiteral("sleep 0.5"));
  window_.open({file("other.sonde")});
  waitForEnd();
  EXPECT_EQ(window_.models().document.paths(), QStringList(file("other.sonde")));
  recorder().findChild<QPushButton*>(QStringLiteral("show"))->click();
  settle();
  EXPECT_EQ(window_.models().document.paths(), QStringList(file("run.sonde")));
}

TEST_F(RecordTest, AsksBeforeItEndsATrainingWithTheWindow) {
  window_.show();
  record(QStringLiteral("sleep 100"));
  QTest::qWait(500);
  answer(QStringLiteral("&Go on"));
  EXPECT_FALSE(window_.close());
  EXPECT_TRUE(recorder().isRunning());
  answer(QStringLiteral("&End the training and close"));
  window_.close();
  while (window_.isVisible())
    QTest::qWait(20);
  EXPECT_FALSE(recorder().isRunning());
  EXPECT_TRUE(QFileInfo::exists(file("run.sonde")));
}

TEST_F(RecordTest, SaysWhatIsMissing) {
  record(QString());
  EXPECT_FALSE(recorder().isRunning());
  EXPECT_TRUE(recorder().state().contains(QLatin1String("command")));
  record(QStringLiteral("no-such-program-at-all"));
  waitForEnd();
  EXPECT_TRUE(
      (recorder().state() + recorder().output()).contains(QLatin1String("no-such-program-at-all")));
}

TEST(RecordingPlan, WantsOneProgram) {
  RecordingPlan plan;
  plan.output = QStringLiteral("out.sonde");
  plan.command = QStringLiteral("python3 train.py | tee log");
  ASSERT_FALSE(plan.words());
  plan.command = QStringLiteral("sh -c 'python3 train.py | tee log'");
  ASSERT_TRUE(plan.words());
  EXPECT_EQ(plan.words()->last(), "python3 train.py | tee log");
}

TEST(RecordingPlan, HasTheWordsOfTheLauncher) {
  RecordingPlan plan;
  plan.command = QStringLiteral("python3 train.py \"a b\"");
  plan.output = QStringLiteral("/of/out.sonde");
  plan.sources = QStringList{"stack", "io"};
  plan.torchOperators = QStringLiteral("names");
  plan.rules = QStringLiteral("/of/rules.toml");
  plan.replaces = true;
  plan.stopsOnFinding = true;
  const auto words = plan.words();
  ASSERT_TRUE(words);
  EXPECT_EQ(
      words->join(u' '),
      "run -o /of/out.sonde -f --sources +stack,+io --torch-operators names --rules /of/rules.toml "
      "--on-fire stop -- python3 train.py a b");
}

}  // namespace
}  // namespace sonde::gui
