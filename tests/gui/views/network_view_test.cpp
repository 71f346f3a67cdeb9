#include "gui/views/network/network_view.h"

#include "gui/views/chart/heat_map.h"
#include "tests/gui/window_rig.h"

#include <algorithm>
#include <cmath>

namespace sonde::gui {
namespace {

class NetworkViewTest : public TimelineViewTest {
 protected:
  NetworkViewTest() { window_.showView(QStringLiteral("network")); }

  // Two ranks of five iterations. In each, two all-reduces send 1000 bytes to the other rank.
  void openRanks() {
    for (int rank = 0; rank < 2; ++rank) {
      test::TrainingRun run;
      run.rank = rank;
      run.iterations = 5;
      test::writeTrainingRun(path(rank == 0 ? "0.sonde" : "1.sonde"), run);
    }
    window_.open({file("0.sonde"), file("1.sonde")});
    settle();
  }
  [[nodiscard]] NetworkView& view() {
    return *qobject_cast<NetworkView*>(window_.view(QStringLiteral("network")));
  }
  [[nodiscard]] QPoint cell(std::size_t row, std::size_t column) {
    return view().map().rectOf(row, column).center().toPoint();
  }
  [[nodiscard]] HeatMap* map() { return view().findChild<HeatMap*>(); }
};

TEST_F(NetworkViewTest, HasTheBytesBetweenRanks) {
  openRanks();
  ASSERT_EQ(view().message(), "");
  const HeatData& drawn = view().map().data();
  ASSERT_EQ(drawn.rows, (std::vector<QString>{"rank 0", "rank 1"}));
  EXPECT_EQ(drawn.at(0, 1), 10'000);
  EXPECT_EQ(drawn.at(1, 0), 10'000);
  EXPECT_TRUE(std::isnan(drawn.at(0, 0)));
  view().choose(LinkValue::Messages);
  EXPECT_EQ(view().map().data().at(0, 1), 10);
  view().choose(LinkValue::Bandwidth);
  EXPECT_GT(view().map().data().at(0, 1), 0);
  view().choose(LinkValue::Time);
  EXPECT_EQ(view().map().data().unit, ValueKind::Duration);
}

TEST_F(NetworkViewTest, AClickOnACellFiltersTheLinks) {
  openRanks();
  const std::size_t all = view().links().rows().size();
  ASSERT_EQ(all, 2U);
  QTest::mouseClick(map(), Qt::LeftButton, Qt::NoModifier, cell(1, 0));
  ASSERT_EQ(view().links().rows().size(), 1U);
  EXPECT_EQ(view().links().rows()[0].values[0], "rank 1");
  EXPECT_EQ(view().links().rows()[0].values[1], "rank 0");
  QTest::mouseClick(map(), Qt::LeftButton, Qt::NoModifier, cell(0, 0));
  EXPECT_TRUE(view().links().rows().empty());
  QTest::mouseClick(map(), Qt::LeftButton, Qt::NoModifier, cell(0, 0));
  EXPECT_EQ(view().links().rows().size(), all);
}

TEST_F(NetworkViewTest, ADoubleClickShowsTheLongestMessageInTheTimeline) {
  openRanks();
  QTest::mouseDClick(map(), Qt::LeftButton, Qt::NoModifier, cell(0, 1));
  settle();
  EXPECT_TRUE(window_.timeline().isVisible());
  const Span span = *view().links().rows()[0].place.span;
  EXPECT_LE(shown().beginNs(), span.beginNs);
  EXPECT_GE(shown().endNs(), span.endNs);
  EXPECT_LT(shown().endNs() - shown().beginNs(), 100 * span.durNs());
}

// The addresses at the other ends, and the loading workers, whose pipes lead to no recorded end.
TEST_F(NetworkViewTest, HasLinksToEndsThatWereNotRecorded) {
  openTraining();
  EXPECT_EQ(view().map().data().rows.size(), 4U);
  EXPECT_EQ(view().links().rows().size(), 4U);
}

TEST_F(NetworkViewTest, HasCollectivesByCommunicator) {
  openRanks();
  ASSERT_FALSE(view().communicators().rows().empty());
  const ValueRow& row = view().communicators().rows().front();
  EXPECT_EQ(row.values[0], "allreduce");
  EXPECT_EQ(row.values[1], 2);
  ASSERT_TRUE(row.place.span);
}

TEST_F(NetworkViewTest, FollowsTheSelectedSpan) {
  openRanks();
  const auto& iterations = window_.models().document.skeleton().iterations;
  const auto second = std::find_if(
      iterations.begin(), iterations.end(), [](const auto& each) { return each.number == 1; });
  ASSERT_NE(second, iterations.end());
  const auto collectives = [&] {
    qlonglong count = 0;
    for (const ValueRow& row : view().communicators().rows())
      count += row.values[3].toLongLong();
    return count;
  };
  const qlonglong all = collectives();
  window_.models().view.setArea(Area{{second->startNs, second->startNs + second->durNs}, {}});
  settle();
  EXPECT_EQ(view().map().data().at(0, 1), 2'000);
  EXPECT_EQ(collectives(), all / 5);
  EXPECT_TRUE(view().note().contains("overlap the selected span")) << view().note().toStdString();
  window_.models().view.setArea(Area{{second->startNs, second->startNs + 1}, {}});
  settle();
  EXPECT_TRUE(view().message().contains("selected span")) << view().message().toStdString();
  window_.models().view.setArea(std::nullopt);
  settle();
  EXPECT_EQ(view().message(), "");
  EXPECT_EQ(view().map().data().at(0, 1), 10'000);
}

TEST_F(NetworkViewTest, SaysWhatIsMissing) {
  (void)testing::writeDeviceWork(path("device.sonde"));
  open("device.sonde");
  EXPECT_TRUE(view().message().contains("sonde merge")) << view().message().toStdString();
}

}  // namespace
}  // namespace sonde::gui
