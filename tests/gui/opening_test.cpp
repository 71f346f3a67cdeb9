// Opening files of other profilers: they are imported first.
#include "gui/models/trace_document.h"
#include "gui/trace/trace_import.h"
#include "gui/trace/trace_opening.h"
#include "gui/trace/trace_reader.h"
#include "tests/gui/sample_trace.h"

#include <QFile>
#include <QFileInfo>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <gtest/gtest.h>

namespace sonde::gui {
namespace {

class OpeningTest : public ::testing::Test {
 protected:
  OpeningTest() : path_(qgetenv("PATH")) {
    qputenv("PATH", QFileInfo(QStringLiteral(SONDE_PROGRAM)).absolutePath().toUtf8() + ":" + path_);
  }
  ~OpeningTest() override { qputenv("PATH", path_); }
  OpeningTest(const OpeningTest&) = delete;
  OpeningTest& operator=(const OpeningTest&) = delete;

  // `slices` operators, one a microsecond.
  [[nodiscard]] QString writeJson(const char* name, int slices) const {
    QFile file(folder_.filePath(name));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(R"({"traceEvents": [)");
    for (int slice = 0; slice < slices; ++slice) {
      file.write(slice == 0 ? "" : ",\n");
      file.write(R"({"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": )");
      file.write(QByteArray::number(slice) + R"(, "dur": 0.5})");
    }
    file.write("]}");
    return file.fileName();
  }
  void settle() {
    while (!document_.settled() || document_.state() == TraceDocument::State::Loading)
      QTest::qWait(5);
  }

  QByteArray path_;
  QTemporaryDir folder_;
  TraceDocument document_;
};

TEST_F(OpeningTest, ImportsAFileOfAnotherProfiler) {
  const QString json = writeJson("t.json", 20'000);
  EXPECT_TRUE(isForeign(json));
  QSignalSpy progressed(&document_, &TraceDocument::progressed);
  document_.open({json});
  settle();
  ASSERT_EQ(document_.state(), TraceDocument::State::Ready) << document_.error().toStdString();
  ASSERT_FALSE(document_.skeleton().tracks.empty());
  EXPECT_GT(progressed.count(), 2);
  for (const auto& report : progressed) {
    EXPECT_GE(report[1].toDouble(), 0);
    EXPECT_LE(report[1].toDouble(), 1);
  }
}

TEST_F(OpeningTest, SaysWhyAFileCannotBeImported) {
  QFile file(folder_.filePath("notes.txt"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("not a trace at all");
  file.close();
  document_.open({file.fileName()});
  settle();
  EXPECT_EQ(document_.state(), TraceDocument::State::Failed);
  EXPECT_TRUE(document_.error().contains(QLatin1String("notes.txt")))
      << document_.error().toStdString();
}

TEST_F(OpeningTest, StopsAndLeavesNothing) {
  const QString json = writeJson("t.json", 300'000);
  document_.open({json});
  QTest::qWait(100);
  document_.cancelOpening();
  EXPECT_EQ(document_.state(), TraceDocument::State::Empty);
  settle();
  const QString other = folder_.filePath("train.sonde");
  testing::writeTraining(other.toStdString(), 2);
  document_.open({other});
  settle();
  EXPECT_EQ(document_.state(), TraceDocument::State::Ready);
}

TEST_F(OpeningTest, ATraceIsNotForeign) {
  const QString trace = folder_.filePath("train.sonde");
  testing::writeTraining(trace.toStdString(), 2);
  EXPECT_FALSE(isForeign(trace));
  EXPECT_FALSE(isForeign(folder_.filePath("gone.json")));
}

// The worker has read the later state, and the window does not know it yet.
TEST_F(OpeningTest, AQueryForTheStateBeforeIsNotAnsweredFromTheNext) {
  const QString large = folder_.filePath("large.sonde");
  const QString small = folder_.filePath("small.sonde");
  testing::writeTraining(large.toStdString(), 2);
  testing::SampleTrace(small.toStdString()).finish();
  document_.open({large});
  settle();
  const int last = static_cast<int>(document_.skeleton().tracks.size()) - 1;
  ASSERT_GT(last, 0);
  document_.follow({small});
  bool isAnswered = false;
  document_.ask(
      TraceDocument::Slot::Window,
      [last](TraceReader& reader, const Cancellation& cancellation) {
        return reader.window({0, 1'000'000'000, 1000, {last}}, cancellation);
      },
      [&](const WindowReply&) { isAnswered = true; });
  settle();
  EXPECT_FALSE(isAnswered);
  EXPECT_TRUE(document_.isContinued());
  EXPECT_TRUE(document_.skeleton().tracks.empty());
}

// The reader has a state that the window never got, since a newer one was wanted; that one fails.
TEST_F(OpeningTest, ALaterStateThatFailsLeavesTheLastOneThatWasRead) {
  const QString first = folder_.filePath("first.sonde");
  const QString second = folder_.filePath("second.sonde");
  testing::SampleTrace(first.toStdString()).finish();
  testing::writeTraining(second.toStdString(), 2);
  document_.open({first});
  settle();
  document_.follow({second});
  QTest::qSleep(500);  // without events: its answer waits
  document_.follow({folder_.filePath("gone.sonde")});
  settle();
  EXPECT_TRUE(document_.ready());
  EXPECT_FALSE(document_.skeleton().tracks.empty());
  bool isAnswered = false;
  document_.ask(
      TraceDocument::Slot::Window,
      [](TraceReader& reader, const Cancellation& cancellation) {
        return reader.window({0, 1'000'000'000, 1000, {0}}, cancellation);
      },
      [&](const WindowReply&) { isAnswered = true; });
  settle();
  EXPECT_TRUE(isAnswered);
}

TEST_F(OpeningTest, StopsAMergeAndASnapshot) {
  QStringList ranks;
  for (int rank = 0; rank < 2; ++rank) {
    ranks << folder_.filePath(QStringLiteral("rank%1.sonde").arg(rank));
    testing::SampleTrace trace(ranks.back().toStdString());
    trace.addProcess(10 + rank, rank, "train");
    trace.finish();
  }
  const OpeningWatch watch{{}, [] { return true; }};
  EXPECT_FALSE(openForViewing(ranks, watch));
  EXPECT_TRUE(openForViewing(ranks));
  const QString part = folder_.filePath("t.sonde.part");
  testing::SampleTrace recording(part.toStdString());
  recording.abandon();
  EXPECT_FALSE(openForViewing({part}, watch));
  EXPECT_TRUE(openForViewing({part}));
}

}  // namespace
}  // namespace sonde::gui
