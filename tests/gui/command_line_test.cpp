// sonde-gui as a program: exit codes, messages, and pictures without a display.
#include "tests/gui/sample_trace.h"

#include <QColor>
#include <QFile>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>

#include <gtest/gtest.h>

namespace sonde::gui {
namespace {

struct Outcome {
  int exitCode;
  QString out;
  QString err;
};

Outcome run(const QStringList& arguments, const QString& fonts = {}) {
  QProcess process;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
    environment.remove(QString::fromLatin1(name));
  if (!fonts.isEmpty())
    environment.insert("FONTCONFIG_FILE", fonts);
  process.setProcessEnvironment(environment);
  process.start(QStringLiteral(SONDE_GUI_PROGRAM), arguments);
  EXPECT_TRUE(process.waitForFinished(50'000));
  return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
          QString::fromUtf8(process.readAllStandardOutput()),
          QString::fromUtf8(process.readAllStandardError())};
}

// One line that begins with the program's name.
void expectOneLine(const Outcome& outcome) {
  EXPECT_TRUE(outcome.err.startsWith("sonde-gui: ")) << outcome.err.toStdString();
  EXPECT_EQ(outcome.err.count('\n'), 1) << outcome.err.toStdString();
}

TEST(SondeGui, WritesAPictureWithoutADisplayAndSaysNothing) {
  const QTemporaryDir folder;
  const QString trace = folder.filePath("train.sonde");
  const QString picture = folder.filePath("out.png");
  testing::writeTraining(trace.toStdString(), 4);
  const Outcome outcome =
      run({"--screenshot", picture, "--view", "timeline", "--size", "900x500", trace});
  EXPECT_EQ(outcome.exitCode, 0) << outcome.err.toStdString();
  EXPECT_EQ(outcome.err.toStdString(), "");
  EXPECT_EQ(QImage(picture).size(), QSize(900, 500));
}

// The picture of a span with a selection is another one than that of the whole.
TEST(SondeGui, ShowsATimeAndSelectsAnEvent) {
  const QTemporaryDir folder;
  const QString trace = folder.filePath("train.sonde");
  const QString whole = folder.filePath("whole.png");
  const QString part = folder.filePath("part.png");
  testing::writeTraining(trace.toStdString(), 4);
  const QStringList common{"--view", "timeline", "--size", "900x500", trace};
  ASSERT_EQ(run(QStringList{"--screenshot", whole} + common).exitCode, 0);
  const Outcome outcome =
      run(QStringList{"--screenshot", part, "--at", "20ms..40ms", "--select", "conv1"} + common);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.err.toStdString();
  EXPECT_EQ(outcome.err.toStdString(), "");
  EXPECT_NE(QImage(part), QImage(whole));
}

TEST(SondeGui, OpensAFileOfAnotherProfiler) {
  const QTemporaryDir folder;
  QFile file(folder.filePath("trace.json"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(
      R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1,)"
      R"( "ts": 100, "dur": 50}]})");
  file.close();
  const QString picture = folder.filePath("out.png");
  const Outcome outcome = run({"--screenshot", picture, "--view", "timeline", file.fileName()});
  EXPECT_EQ(outcome.exitCode, 0) << outcome.err.toStdString();
  EXPECT_EQ(outcome.err.toStdString(), "");
  EXPECT_TRUE(QFile::exists(picture));
}

TEST(SondeGui, DrawsAPictureOfSondesTwiceAsLarge) {
  const QTemporaryDir folder;
  QFile svg(folder.filePath("in.svg"));
  ASSERT_TRUE(svg.open(QIODevice::WriteOnly));
  svg.write(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"30\" viewBox=\"0 0 40 30\">"
      "<rect x=\"10\" width=\"5\" height=\"30\" fill=\"#0072b2\"/></svg>");
  svg.close();
  const QString picture = folder.filePath("out.png");
  const Outcome outcome = run({"--picture", svg.fileName(), "--screenshot", picture});
  EXPECT_EQ(outcome.exitCode, 0) << outcome.err.toStdString();
  EXPECT_EQ(outcome.err.toStdString(), "");
  const QImage drawn(picture);
  ASSERT_EQ(drawn.size(), QSize(80, 60));
  EXPECT_EQ(drawn.pixelColor(25, 30), QColor("#0072b2"));
  EXPECT_EQ(drawn.pixelColor(10, 30), QColor(Qt::white));
  EXPECT_EQ(run({"--picture", svg.fileName()}).exitCode, 2);
  const Outcome none =
      run({"--picture", folder.filePath("none.svg"), "--screenshot", folder.filePath("no.png")});
  EXPECT_EQ(none.exitCode, 3);
  EXPECT_TRUE(none.err.contains("is not an SVG picture"));
  EXPECT_FALSE(QFile::exists(folder.filePath("no.png")));
}

TEST(SondeGui, SaysWhatToInstallWhereThereAreNoFonts) {
  const QTemporaryDir folder;
  const QString trace = folder.filePath("train.sonde");
  testing::writeTraining(trace.toStdString(), 4);
  QFile fonts(folder.filePath("fonts.conf"));
  ASSERT_TRUE(fonts.open(QIODevice::WriteOnly));
  fonts.write("<fontconfig></fontconfig>");
  fonts.close();
  const Outcome outcome =
      run({"--screenshot", folder.filePath("out.png"), trace}, fonts.fileName());
  EXPECT_EQ(outcome.exitCode, 1);
  expectOneLine(outcome);
  EXPECT_TRUE(outcome.err.contains("apt-get install fonts-dejavu-core"));
  EXPECT_FALSE(QFile::exists(folder.filePath("out.png")));
}

TEST(SondeGui, AFileThatIsNoTraceIs3) {
  const QTemporaryDir folder;
  QFile file(folder.filePath("notes.txt"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("not a trace at all");
  file.close();
  for (const QString& trace : {file.fileName(), folder.filePath("missing.sonde")}) {
    const Outcome outcome = run({"--screenshot", folder.filePath("out.png"), trace});
    EXPECT_EQ(outcome.exitCode, 3);
    expectOneLine(outcome);
    EXPECT_FALSE(QFile::exists(folder.filePath("out.png")));
  }
}

TEST(SondeGui, UsageErrorsAre2) {
  for (const QStringList& arguments :
       {QStringList{"--view", "nonsense", "a.sonde"},
        QStringList{"--size", "big", "--screenshot", "o.png", "a.sonde"},
        QStringList{"--at", "soon", "a.sonde"},
        QStringList{"--at", "2s..1s", "a.sonde"},
        QStringList{"--no-such-option"},
        QStringList{"--screenshot", "o.png"}}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exitCode, 2) << arguments.join(' ').toStdString();
    expectOneLine(outcome);
  }
}

TEST(SondeGui, WithoutADisplayAWindowIs2UnlessTheFileIsAtFault) {
  const QTemporaryDir folder;
  const QString whole = folder.filePath("train.sonde");
  testing::writeTraining(whole.toStdString(), 4);
  const QString cut = folder.filePath("cut.sonde");
  ASSERT_TRUE(QFile::copy(whole, cut));
  ASSERT_TRUE(QFile::resize(cut, QFile(whole).size() / 2));
  const Outcome display = run({whole});
  EXPECT_EQ(display.exitCode, 2);
  expectOneLine(display);
  EXPECT_TRUE(display.err.contains("no display")) << display.err.toStdString();
  for (const QString& path : {cut, folder.filePath("missing.sonde")}) {
    const Outcome outcome = run({whole, path});
    EXPECT_EQ(outcome.exitCode, 3);
    expectOneLine(outcome);
    EXPECT_TRUE(outcome.err.contains(path)) << outcome.err.toStdString();
  }
}

TEST(SondeGui, HelpHasAnExampleAndEveryExitStatus) {
  const Outcome outcome = run({"--help"});
  EXPECT_EQ(outcome.exitCode, 0);
  EXPECT_TRUE(outcome.out.contains("Example"));
  EXPECT_TRUE(outcome.out.contains("--screenshot"));
  for (const char* status : {"0 success", "1 no font", "2 wrong usage", "3 a trace"})
    EXPECT_TRUE(outcome.out.contains(status)) << status;
}

TEST(SondeGui, APictureThatCannotBeWrittenIsSaid) {
  const QTemporaryDir folder;
  const QString trace = folder.filePath("train.sonde");
  testing::writeTraining(trace.toStdString(), 2);
  const Outcome outcome = run({"--screenshot", "/nonexistent/out.png", trace});
  EXPECT_EQ(outcome.exitCode, 3);
  expectOneLine(outcome);
}

}  // namespace
}  // namespace sonde::gui
