// Recording from the window: real jobs under the real launcher.
#include "gui/app/file_actions.h"
#include "gui/views/record/record_dialog.h"
#include "tests/gui/window_rig.h"

#include <QFileInfo>
#include <QSignalSpy>

namespace sonde::gui {
namespace {

class RecordTest : public TimelineViewTest {
 protected:
  RecordTest() : path_(qgetenv("PATH")), files_(window_) {
    qputenv("PATH", QFileInfo(QStringLiteral(SONDE_PROGRAM)).absolutePath().toUtf8() + ":" + path_);
  }
  ~RecordTest() override { qputenv("PATH", path_); }
  RecordTest(const RecordTest&) = delete;
  RecordTest& operator=(const RecordTest&) = delete;

  void record(const QString& command) {
    RecordingPlan plan;
    plan.command = command;
    plan.output = file("run.sonde");
    files_.recorder().setPlan(plan);
    files_.recorder().start();
  }
  void waitForEnd() {
    while (files_.recorder().isRunning())
      QTest::qWait(20);
    settle();
  }

  QByteArray path_;
  FileActions files_;
};

TEST_F(RecordTest, RunsTheJobAndOpensItsTrace) {
  record(QStringLiteral("sh -c 'echo one; sleep 0.2; echo two'"));
  EXPECT_TRUE(files_.recorder().isRunning()) << files_.recorder().state().toStdString();
  waitForEnd();
  EXPECT_TRUE(files_.recorder().output().contains(QLatin1String("two")));
  ASSERT_EQ(window_.models().document.state(), TraceDocument::State::Ready)
      << files_.recorder().output().toStdString();
  EXPECT_EQ(window_.models().document.paths(), QStringList(file("run.sonde")));
  EXPECT_FALSE(window_.models().document.skeleton().processes.empty());
}

TEST_F(RecordTest, EndsTheJobAndKeepsItsTrace) {
  record(QStringLiteral("sleep 100"));
  QTest::qWait(500);
  files_.recorder().stop();
  waitForEnd();
  EXPECT_EQ(window_.models().document.state(), TraceDocument::State::Ready)
      << files_.recorder().output().toStdString();
}

// An old trace of that name is not the result of a run that did not start.
TEST_F(RecordTest, TellsAnOldTraceFromItsOwn) {
  testing::writeTraining(path("run.sonde"), 2);
  RecordingPlan plan;
  plan.command = QStringLiteral("true");
  plan.output = file("run.sonde");
  plan.rules = file("no-such-rules.toml");
  files_.recorder().setPlan(plan);
  files_.recorder().start();
  EXPECT_FALSE(files_.recorder().isRunning());
  EXPECT_TRUE(files_.recorder().state().contains(QLatin1String("exists")));
  plan.replaces = true;
  files_.recorder().setPlan(plan);
  files_.recorder().start();
  waitForEnd();
  EXPECT_EQ(window_.models().document.state(), TraceDocument::State::Empty);
  EXPECT_TRUE(files_.recorder().state().contains(QLatin1String("no-such-rules.toml")))
      << files_.recorder().state().toStdString();
  plan.rules.clear();
  plan.folder = file("no-such-folder");
  files_.recorder().setPlan(plan);
  files_.recorder().start();
  EXPECT_TRUE(files_.recorder().state().contains(QLatin1String("no-such-folder")));
}

TEST_F(RecordTest, SaysWhatIsMissing) {
  record(QString());
  EXPECT_FALSE(files_.recorder().isRunning());
  EXPECT_TRUE(files_.recorder().state().contains(QLatin1String("command")));
  record(QStringLiteral("no-such-program-at-all"));
  waitForEnd();
  EXPECT_TRUE((files_.recorder().state() + files_.recorder().output())
                  .contains(QLatin1String("no-such-program-at-all")));
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
  plan.output = QStringLiteral("out.sonde");
  plan.sources = QStringList{"stack", "io"};
  plan.torchOperators = QStringLiteral("names");
  plan.rules = QStringLiteral("rules.toml");
  plan.replaces = true;
  plan.stopsOnFinding = true;
  const auto words = plan.words();
  ASSERT_TRUE(words);
  EXPECT_EQ(words->join(u' '),
            "run -o out.sonde -f --sources +stack,+io --torch-operators names --rules rules.toml "
            "--on-fire stop -- python3 train.py a b");
}

}  // namespace
}  // namespace sonde::gui
