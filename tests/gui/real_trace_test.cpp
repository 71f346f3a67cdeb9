// Real jobs on GPUs, imported and shown. SONDE_REFERENCE_DATA is their folder.
#include "analysis/store/trace_file.h"
#include "gui/trace/trace_reader.h"
#include "gui/views/chart/lane_chart.h"
#include "gui/views/compare/compare_view.h"
#include "gui/views/findings/collective_pane.h"
#include "gui/views/findings/findings_view.h"
#include "gui/views/timeline_view.h"
#include "tests/gui/window_rig.h"

#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTableView>

#include <algorithm>
#include <map>
#include <vector>

namespace sonde::gui {
namespace {

class RealTraceTest : public TimelineViewTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(QDir(QStringLiteral(SONDE_REFERENCE_DATA "/traces")).exists());
  }
  // Imports the files of a folder as one job, "job.sonde".
  void import(const char* folder) {
    const QDir files(QStringLiteral(SONDE_REFERENCE_DATA "/traces/") + QLatin1String(folder));
    QStringList words{"import", "-o", file("job.sonde")};
    for (const QString& name : files.entryList({"*.json.gz"}, QDir::Files, QDir::Name))
      words << files.filePath(name);
    QProcess sonde;
    sonde.start(QStringLiteral(SONDE_PROGRAM), words);
    ASSERT_TRUE(sonde.waitForFinished(100'000));
    ASSERT_EQ(sonde.exitCode(), 0) << sonde.readAllStandardError().toStdString();
  }
};

TEST_F(RealTraceTest, EightRanksShowTheStreamsOfTheirDevices) {
  import("dlrm_8rank");
  open("job.sonde");
  const Skeleton& skeleton = window_.models().document.skeleton();
  ASSERT_EQ(skeleton.devices.size(), 8U);
  std::map<int, std::vector<std::string>> streams;
  for (const TrackInfo& track : skeleton.tracks)
    if (track.owner == Owner::Stream)
      streams[track.process].push_back(track.name.toStdString());
  ASSERT_EQ(streams.size(), 8U);
  for (int rank = 0; rank < 8; ++rank) {
    ASSERT_EQ(streams[rank].size(), 4U);
    EXPECT_EQ(streams[rank].front(), "gpu " + std::to_string(rank) + " · stream 7");
  }
}

TEST_F(RealTraceTest, CollectivesOfARankAreSeenOnTheirStream) {
  import("dlrm_8rank");
  open("job.sonde");
  int collectives = 0;
  for (const TrackInfo& track : window_.models().document.skeleton().tracks) {
    const int at = static_cast<int>(&track - window_.models().document.skeleton().tracks.data());
    if (track.name != QString::fromUtf8("gpu 0 · stream 84"))
      continue;
    const std::vector<Block>* blocks = window_.models().timeline.blocks(at);
    ASSERT_NE(blocks, nullptr);
    for (const Block& block : *blocks) {
      EXPECT_EQ(block.kind, Kind::CollectiveKernel);
      const QRectF rect = window_.timeline().currentGeometry().rectOf(at, block);
      EXPECT_EQ(pixel(rect.topLeft().toPoint() + QPoint(2, 1)),
                Theme(plainPalette(false)).fill(Kind::Collective));
      ++collectives;
    }
  }
  EXPECT_EQ(collectives, 8);
}

// Two of eight ranks have not entered the collectives that the others wait in.
TEST_F(RealTraceTest, AHangShowsRanksByCollectives) {
  const QDir dumps(QStringLiteral(SONDE_REFERENCE_DATA "/flight_recorder/lock_gil_1st"));
  QStringList words{"import", "-o", file("job.sonde")};
  for (const QString& name : dumps.entryList({"_dump_*"}, QDir::Files, QDir::Name))
    words << dumps.filePath(name);
  QProcess sonde;
  sonde.start(QStringLiteral(SONDE_PROGRAM), words);
  ASSERT_TRUE(sonde.waitForFinished(100'000));
  window_.showView(QStringLiteral("findings"));
  open("job.sonde");
  settle();
  auto& view = *qobject_cast<FindingsView*>(window_.view(QStringLiteral("findings")));
  ASSERT_EQ(view.collectives().isVisible(), true);
  const CollectiveMatrix& matrix = view.collectives().matrix();
  ASSERT_EQ(matrix.rowCount({}), 8);
  ASSERT_EQ(matrix.columnCount({}), 3);
  std::vector<QString> absent;
  for (int row = 0; row < 8; ++row)
    if (matrix.data(matrix.index(row, 0), Qt::DisplayRole).toString() ==
        CollectiveMatrix::signOf(CollectiveMatrix::State::NotEntered))
      absent.push_back(matrix.headerData(row, Qt::Vertical, Qt::DisplayRole).toString());
  EXPECT_EQ(absent, (std::vector<QString>{"rank 9", "rank 14"}));

  // Dumps have no events: a click names the call, and does not lead to an empty timeline.
  QTableView& cells = view.collectives().view();
  const auto click = [&](const char* rank) {
    for (int row = 0; row < matrix.rowCount({}); ++row)
      if (matrix.headerData(row, Qt::Vertical, Qt::DisplayRole) == QLatin1String(rank))
        QTest::mouseClick(cells.viewport(),
                          Qt::LeftButton,
                          Qt::NoModifier,
                          cells.visualRect(matrix.index(row, 0)).center());
    settle();
    return view.collectives().chosen();
  };
  EXPECT_TRUE(click("rank 9").startsWith("rank 9, alltoall")) << click("rank 9").toStdString();
  EXPECT_TRUE(click("rank 9").contains("not entered"));
  EXPECT_TRUE(click("rank 8").contains("waits inside")) << click("rank 8").toStdString();
  EXPECT_TRUE(click("rank 8").contains("no event"));
  EXPECT_EQ(window_.wordInFront(), "findings");
}

TEST_F(RealTraceTest, AComparedIterationHasTheWorkOfTheDevices) {
  import("sampled_2rank");
  ASSERT_TRUE(QFile::copy(file("job.sonde"), file("before.sonde")));
  window_.showView(QStringLiteral("compare"));
  open("job.sonde");
  auto& view = *qobject_cast<CompareView*>(window_.view(QStringLiteral("compare")));
  view.compareWith({file("before.sonde")});
  settle();
  const std::int64_t number = view.iteration().currentText().section(u' ', 1, 1).toLongLong();
  const store::Database trace = test::must(store::openTrace(path("job.sonde")));
  const auto& groups = view.lanes().data().groups;
  ASSERT_EQ(groups.size(), 2U);
  for (const LaneGroup& group : groups) {
    ASSERT_EQ(group.lanes.size(), 4U);
    for (std::size_t lane = 1; lane < 4; lane += 2) {
      const std::int64_t rank = group.lanes[lane].section(u' ', 1, 1).remove(u',').toLongLong();
      EXPECT_EQ(group.lanes[lane], QStringLiteral("rank %1, devices").arg(rank));
      const auto drawn = std::count_if(group.spans.begin(),
                                       group.spans.end(),
                                       [&](const LaneSpan& span) { return span.lane == lane; });
      EXPECT_GT(drawn, 100);
      EXPECT_EQ(drawn,
                test::must(trace.queryInteger(
                    QStringLiteral(
                        "SELECT count(*) FROM (SELECT rank, start_ns, end_ns FROM v_kernel UNION "
                        "ALL SELECT rank, start_ns, end_ns FROM v_copy) w JOIN v_iteration i ON "
                        "i.rank = w.rank WHERE i.number = %1 AND i.rank = %2 AND w.end_ns > "
                        "w.start_ns AND w.start_ns < i.start_ns + i.dur_ns AND w.end_ns > "
                        "i.start_ns")
                        .arg(number)
                        .arg(rank)
                        .toStdString())));
    }
  }
  window_.resize(1500, 900);
}

TEST_F(RealTraceTest, KernelsAndTheirCallsAreTiedBothWays) {
  import("sampled_2rank");
  TraceReader reader;
  const auto skeleton = reader.open({file("job.sonde")});
  ASSERT_TRUE(skeleton) << skeleton.error().message;
  const Cancellation never;
  int events = 0;
  for (std::size_t at = 0; at < skeleton->tracks.size(); ++at) {
    const TrackInfo& track = skeleton->tracks[at];
    if (track.owner != Owner::Stream)
      continue;
    const auto reply =
        reader.window({skeleton->beginNs, skeleton->endNs + 1, 0, {static_cast<int>(at)}}, never);
    ASSERT_TRUE(reply);
    for (const Block& block : reply->tracks.at(0).blocks) {
      const auto work = reader.details(refOf(block));
      ASSERT_TRUE(work && work->arrows.from.size() == 1U) << track.name.toStdString();
      const FoundEvent& call = work->arrows.from.front();
      EXPECT_EQ(skeleton->tracks.at(static_cast<std::size_t>(call.track)).process, track.process);
      EXPECT_LE(call.block.startNs, block.startNs);
      const auto launched = reader.details(call.ref);
      ASSERT_TRUE(launched);
      EXPECT_TRUE(std::any_of(launched->arrows.to.begin(),
                              launched->arrows.to.end(),
                              [&](const FoundEvent& to) { return to.ref == refOf(block); }));
      ++events;
    }
  }
  EXPECT_EQ(events, 2'358);  // 2258 kernels, 100 copies and sets
}

}  // namespace
}  // namespace sonde::gui
