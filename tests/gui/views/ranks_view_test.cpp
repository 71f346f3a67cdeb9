#include "gui/views/ranks/ranks_view.h"

#include "analysis/store/database.h"
#include "gui/views/chart/heat_map.h"
#include "tests/gui/window_rig.h"
#include "tests/support/trace_builder.h"

#include <QSignalSpy>

#include <cmath>
#include <limits>
#include <vector>

namespace sonde::gui {
namespace {

class RanksViewTest : public TimelineViewTest {
 protected:
  RanksViewTest() {
    window_.showView(QStringLiteral("ranks"));
    openTraining();
  }

  [[nodiscard]] RanksView& view() {
    return *qobject_cast<RanksView*>(window_.view(QStringLiteral("ranks")));
  }
};

TEST_F(RanksViewTest, HasEachIterationOfEachRank) {
  const HeatData& drawn = view().map().data();
  ASSERT_EQ(drawn.rows, (std::vector<QString>{"rank 0", "rank 1"}));
  ASSERT_EQ(drawn.columns.size(), 6U);
  const Skeleton& skeleton = window_.models().document.skeleton();
  // Both ranks take equally long, so that the view begins with the time in which they do nothing.
  EXPECT_LT(drawn.at(0, 0), static_cast<double>(skeleton.iterations.front().durNs));
  view().choose(RankValue::Time);
  for (const IterationInfo& each : skeleton.iterations)
    EXPECT_EQ(drawn.at(static_cast<std::size_t>(
                           *skeleton.processes[static_cast<std::size_t>(each.process)].rank),
                       static_cast<std::size_t>(each.number)),
              static_cast<double>(each.durNs));
  view().choose(RankValue::Communication);
  EXPECT_LT(view().map().data().at(0, 0), drawn.at(0, 0) + 1);
}

TEST_F(RanksViewTest, AClickShowsTheIterationOfTheRank) {
  auto* const map = view().findChild<HeatMap*>();
  QTest::mouseClick(map, Qt::LeftButton, Qt::NoModifier, map->rectOf(1, 3).center().toPoint());
  settle();
  EXPECT_TRUE(window_.models().focus.part().isAll());  // the others stay visible
  EXPECT_TRUE(window_.timeline().isVisible());
  for (const IterationInfo& each : window_.models().document.skeleton().iterations)
    if (each.number == 3 && each.process == 1) {
      EXPECT_LE(shown().beginNs(), each.startNs);
      EXPECT_GE(shown().endNs(), each.startNs + each.durNs);
    }
}

TEST_F(RanksViewTest, AClickWhileValuesAreReadIsOnWhatIsDrawn) {
  auto* const map = view().findChild<HeatMap*>();
  const QPoint at = map->rectOf(1, 3).center().toPoint();
  window_.models().view.setArea(Area{{shown().beginNs(), shown().endNs()}, {}});
  emit window_.models().times.changed();  // as if the other times were chosen
  QTest::mouseClick(map, Qt::LeftButton, Qt::NoModifier, at);
  settle();
  EXPECT_TRUE(window_.timeline().isVisible());
}

// The second half of the iterations has the numbers of the first, as in a second epoch.
TEST_F(RanksViewTest, AClickFindsAnIterationWhoseNumberCameBefore) {
  auto trace = test::must(store::Database::open(path("train.sonde"), store::Access::ReadWrite));
  test::must(trace.exec("UPDATE iteration SET number = number - 3 WHERE number >= 3"));
  open("train.sonde");
  auto* const map = view().findChild<HeatMap*>();
  ASSERT_EQ(map->data().columns.size(), 6U);
  QTest::mouseClick(map, Qt::LeftButton, Qt::NoModifier, map->rectOf(0, 4).center().toPoint());
  settle();
  std::vector<IterationInfo> ones;
  for (const IterationInfo& each : window_.models().document.skeleton().iterations)
    if (each.number == 1 && each.process == 0)
      ones.push_back(each);
  ASSERT_EQ(ones.size(), 2U);
  EXPECT_GT(shown().beginNs(), endOf(ones[0], 0));
  EXPECT_LE(shown().beginNs(), ones[1].startNs);
}

// One slow cell among 1,024 × 5,000 is seen although cells share pixels.
TEST(HeatMapTest, DrawsTheLargestOfCellsThatShareAPixel) {
  HeatData data{"rank",
                "iteration",
                std::vector<QString>(1024),
                std::vector<QString>(5000),
                std::vector<double>(1024 * 5000, 1.0)};
  data.values[700 * 5000 + 4321] = 2.0;
  data.values[0] = std::numeric_limits<double>::quiet_NaN();
  HeatMap map;
  map.setPalette(plainPalette(false));
  map.resize(800, 400);
  map.show(std::move(data));
  const QImage image = map.grab().toImage();
  EXPECT_EQ(image.pixelColor(map.rectOf(700, 4321).topLeft().toPoint()).rgb(), 0xfffde725);
  EXPECT_EQ(image.pixelColor(map.rectOf(100, 100).center().toPoint()).rgb(), 0xff440154);
}

}  // namespace
}  // namespace sonde::gui
