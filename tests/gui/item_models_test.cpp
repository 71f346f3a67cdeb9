#include "gui/models/details_model.h"
#include "gui/models/span_model.h"
#include "gui/models/tracks/track_model.h"
#include "gui/trace/process_text.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include <gtest/gtest.h>

namespace sonde::gui {
namespace {

constexpr auto kFatal = QAbstractItemModelTester::FailureReportingMode::Fatal;

std::vector<DetailsSection> sections() {
  return {{"Event", {{"Name", "forward"}, {"Kind", "forward"}}}, {"Arguments", {{"batch", "64"}}}};
}

TEST(DetailsModel, IsAWellFormedTreeThroughChanges) {
  DetailsModel model;
  const QAbstractItemModelTester tester(&model, kFatal);
  model.show(sections());
  model.clear();
  model.show(sections());
  EXPECT_EQ(model.rowCount({}), 2);
}

TEST(DetailsModel, HoldsSectionsWithNamesAndValues) {
  DetailsModel model;
  model.show(sections());
  const QModelIndex arguments = model.index(1, 0, {});
  EXPECT_EQ(arguments.data().toString(), "Arguments");
  ASSERT_EQ(model.rowCount(arguments), 1);
  const QModelIndex value = model.index(0, 1, arguments);
  EXPECT_EQ(value.data().toString(), "64");
  EXPECT_EQ(value.parent(), arguments);
  EXPECT_EQ(model.rowCount(value), 0);
}

Skeleton skeleton() {
  Skeleton skeleton;
  ProcessInfo rank;
  rank.pid = 42;
  rank.rank = 3;
  rank.command = "/usr/bin/python3 train.py";
  ProcessInfo idle;
  idle.pid = 43;
  skeleton.processes = {rank, idle, rank};
  for (const int process : {0, 0, 2}) {
    TrackInfo track;
    track.process = process;
    track.name = QStringLiteral("thread of %1").arg(process);
    track.count = 7;
    skeleton.tracks.push_back(track);
  }
  return skeleton;
}

TEST(TrackModel, IsAWellFormedTreeThroughChanges) {
  TrackModel model;
  const QAbstractItemModelTester tester(&model, kFatal);
  model.show(skeleton());
  model.show({});
  model.show(skeleton());
  EXPECT_EQ(model.rowCount({}), 3);
}

TEST(TrackModel, PutsTracksUnderTheirProcess) {
  TrackModel model;
  model.show(skeleton());
  EXPECT_EQ(model.rowCount(model.index(0, 0, {})), 2);
  EXPECT_EQ(model.rowCount(model.index(1, 0, {})), 0);
  const QModelIndex last = model.index(0, 0, model.index(2, 0, {}));
  EXPECT_EQ(last.data().toString(), "thread of 2");
  EXPECT_EQ(last.data(TrackModel::kTrackRole).toInt(), 2);
  EXPECT_EQ(model.index(1, 0, {}).data(TrackModel::kTrackRole).toInt(), -1);
}

TEST(TrackModel, NamesAProcessByRankProgramAndPid) {
  EXPECT_EQ(titleOf(skeleton().processes[0]).toStdString(),
            "rank 3  ·  python3 train.py  ·  pid 42");
}

TEST(ProcessText, ShortensTheProgramAndItsScriptOnly) {
  const auto title = [](const char* command) {
    ProcessInfo process;
    process.command = command;
    return titleOf(process).section(QStringLiteral("  ·"), 0, 0).toStdString();
  };
  EXPECT_EQ(title("/bin/ls / > /dev/null"), "ls / > /dev/null");
  EXPECT_EQ(title("bash -c ls / > /dev/null"), "bash -c ls / > /dev/null");
  EXPECT_EQ(title("/usr/bin/python3 -u /home/ann/train.py /data/x /data/y.py"),
            "python3 -u train.py /data/x /data/y.py");
  EXPECT_EQ(title("bash /opt/python/bin/python3 /home/ann/train.py"), "bash python3 train.py");
  EXPECT_EQ(title("/ /usr/"), "/ /usr/");
}

TEST(ProcessText, SaysHowAProcessEnded) {
  ProcessInfo process;
  process.state = "running";
  EXPECT_EQ(endingOf(process), "still ran when recording ended");
  process.state = "exited";
  process.exitStatus = 0;
  EXPECT_EQ(endingOf(process), "exited with status 0");
  EXPECT_FALSE(failed(process));
  process.exitStatus = 137;
  EXPECT_TRUE(failed(process));
  process.exitSignal = 9;
  EXPECT_EQ(endingOf(process), "killed by signal 9");
}

std::vector<SpanRow> spanRows() {
  return {{"forward", Kind::Forward, 2, 300, 200, 0}, {"backward", Kind::Backward, 1, 500, 500, 0}};
}

TEST(SpanModel, IsAWellFormedTableThroughSorting) {
  SpanModel model;
  const QAbstractItemModelTester tester(&model, kFatal);
  model.show(spanRows(), 1000);
  for (int column = 0; column < SpanModel::ColumnCount; ++column)
    model.sort(column, Qt::AscendingOrder);
  EXPECT_EQ(model.rowCount({}), 2);
}

TEST(SpanModel, SortsByValueNotByText) {
  SpanModel model;
  model.show(spanRows(), 1000);
  model.sort(SpanModel::Total, Qt::DescendingOrder);
  EXPECT_EQ(model.index(0, SpanModel::Name).data().toString(), "backward");
  EXPECT_EQ(model.index(0, SpanModel::Share).data().toString(), "50.0 %");
  model.sort(SpanModel::Count, Qt::DescendingOrder);
  EXPECT_EQ(model.index(0, SpanModel::Name).data().toString(), "forward");
}

}  // namespace
}  // namespace sonde::gui
