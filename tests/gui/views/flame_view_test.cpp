#include "gui/views/flame/flame_view.h"

#include "analysis/store/trace_file.h"
#include "gui/views/chart/flame_chart.h"
#include "gui/views/chart/heat_map.h"
#include "gui/views/flame/call_pane.h"
#include "gui/views/flame/scope_pane.h"
#include "gui/views/theme.h"
#include "tests/gui/window_rig.h"

#include <QComboBox>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>
#include <QTreeView>

#include <algorithm>

namespace sonde::gui {
namespace {

using engine::callpaths::CallNode;
using engine::callpaths::CallTree;
using engine::callpaths::kRoot;

class FlameViewTest : public TimelineViewTest {
 protected:
  FlameViewTest() {
    window_.showView(QStringLiteral("flame"));
    openTraining();
  }

  [[nodiscard]] FlameView& view() {
    return *qobject_cast<FlameView*>(window_.view(QStringLiteral("flame")));
  }
  [[nodiscard]] FlameChart& chart() { return view().chart(); }
  [[nodiscard]] const CallTree& tree() { return *chart().data().tree; }
  // The first node of a name; the root: there is none.
  [[nodiscard]] CallNode nodeOf(const std::string& name) {
    for (CallNode node = 1; node < tree().size(); ++node)
      if (tree().textOf(node) == name)
        return node;
    ADD_FAILURE() << "no " << name;
    return kRoot;
  }
  void clickFrame(CallNode node) {
    QTest::mouseClick(chart().viewport(),
                      Qt::LeftButton,
                      Qt::NoModifier,
                      chart().rectOf(node).center().toPoint());
    settle();
  }
  [[nodiscard]] std::int64_t number(const QString& sql) {
    return test::must(
        test::must(store::openTrace(path("train.sonde"))).queryInteger(sql.toStdString()));
  }
};

TEST_F(FlameViewTest, HasTheTimesOfSql) {
  ASSERT_EQ(view().state(), "");
  EXPECT_EQ(view().limits(), "");
  for (const char* name : {"backward", "conv1", "gloo:allreduce"})
    EXPECT_EQ(tree().totalNs[nodeOf(name)],
              number(QStringLiteral("SELECT sum(dur_ns) FROM v_slice WHERE name = '%1'").arg(name)))
        << name;
  EXPECT_EQ(tree().counts[nodeOf("conv1")], 12);
  EXPECT_EQ(tree().totalNs[kRoot],
            number("SELECT sum(dur_ns) FROM v_slice WHERE parent_id IS NULL"));
}

TEST_F(FlameViewTest, ANameHasTheColourOfTheTimeline) {
  const Theme theme(chart().palette());
  const auto drawn = [&](const char* name) {
    const QRectF rect = chart().rectOf(nodeOf(name));
    return chart().viewport()->grab().toImage().pixelColor(rect.topLeft().toPoint() + QPoint(2, 2));
  };
  EXPECT_EQ(drawn("backward"), theme.fill(Kind::Backward));
  EXPECT_EQ(drawn("gloo:allreduce"), theme.fill(Kind::Collective));
  EXPECT_EQ(drawn("layer2"), theme.fill(Kind::Module, QStringLiteral("layer2")));
  window_.models().view.setColorBy(ColorBy::Name);
  EXPECT_EQ(drawn("backward"), theme.fill(QStringLiteral("backward")));
}

TEST_F(FlameViewTest, FollowsTheRankAndTheSelectedArea) {
  window_.models().focus.set({1, {}, {}});
  settle();
  EXPECT_TRUE(view().limits().contains("rank 1"));
  EXPECT_EQ(tree().counts[nodeOf("backward")], 6);
  const std::int64_t from = number("SELECT min(start_ns) FROM v_slice WHERE name = 'backward'");
  window_.models().view.setArea(Area{{from, from + 1'000'000}, {}});
  settle();
  EXPECT_EQ(tree().totalNs[nodeOf("backward")],
            number(QStringLiteral("SELECT sum(min(end_ns, %1) - max(start_ns, %2)) FROM v_slice "
                                  "WHERE name = 'backward' AND rank = 1 AND start_ns < %1 AND "
                                  "end_ns > %2")
                       .arg(from + 1'000'000)
                       .arg(from)));
  QTest::mouseClick(view().findChild<QPushButton*>(), Qt::LeftButton);
  settle();
  EXPECT_FALSE(window_.models().view.area());
  EXPECT_EQ(view().limits(), "");
  EXPECT_EQ(tree().counts[nodeOf("backward")], 12);
}

TEST_F(FlameViewTest, OfAnAreaOnAThreadAreItsSlices) {
  const Skeleton& skeleton = window_.models().document.skeleton();
  for (const TrackInfo& track : skeleton.tracks)
    if (track.name.contains("gloo")) {
      window_.models().view.setArea(Area{{skeleton.beginNs, skeleton.endNs}, {idOf(track)}});
      break;
    }
  settle();
  EXPECT_TRUE(view().limits().contains("1 selected thread")) << view().limits().toStdString();
  ASSERT_EQ(tree().size(), 2U);
  EXPECT_EQ(tree().textOf(1), "gloo:allreduce");
}

TEST_F(FlameViewTest, OfAnAreaOnAllThreadsAreNotLimitedToThreads) {
  const Skeleton& skeleton = window_.models().document.skeleton();
  std::vector<TrackId> tracks;
  for (const TrackInfo& track : skeleton.tracks)
    tracks.push_back(idOf(track));
  std::sort(tracks.begin(), tracks.end());
  window_.models().view.setArea(Area{{skeleton.beginNs, skeleton.endNs}, tracks});
  settle();
  EXPECT_FALSE(view().limits().contains("thread")) << view().limits().toStdString();
}

TEST_F(FlameViewTest, AClickZoomsAndKeysGoBack) {
  const CallNode forward = nodeOf("DistributedDataParallel.forward");
  EXPECT_LT(chart().rectOf(forward).width(), chart().viewport()->width() / 2);
  clickFrame(forward);
  EXPECT_EQ(chart().zoomed(), forward);
  EXPECT_EQ(chart().rectOf(forward).width(), chart().viewport()->width());
  EXPECT_TRUE(window_.models().focus.part().isAll());
  EXPECT_EQ(view().calls().name(), "DistributedDataParallel.forward");
  clickFrame(nodeOf("layer2"));
  QTest::keyClick(&chart(), Qt::Key_Backspace);
  EXPECT_EQ(chart().zoomed(), forward);
  QTest::keyClick(&chart(), Qt::Key_Escape);
  EXPECT_EQ(chart().zoomed(), kRoot);
  clickFrame(forward);
  clickFrame(kRoot);
  EXPECT_EQ(chart().zoomed(), kRoot);
}

TEST_F(FlameViewTest, StaysAtTheFrameInAnotherPartOfTheTrace) {
  clickFrame(nodeOf("layer2"));
  window_.models().focus.set({1, {}, "layer2"});
  settle();
  EXPECT_EQ(tree().textOf(chart().zoomed()), "layer2");
  EXPECT_EQ(tree().counts[chart().zoomed()], 6);
  EXPECT_EQ(chart().current(), chart().zoomed());
}

TEST_F(FlameViewTest, ArrowsMoveAndEnterZooms) {
  chart().setCurrent(kRoot);
  QTest::keyClick(&chart(), Qt::Key_Down);
  EXPECT_EQ(tree().textOf(chart().current()), "iteration");
  QTest::keyClick(&chart(), Qt::Key_Down);
  EXPECT_EQ(tree().textOf(chart().current()), "backward");
  QTest::keyClick(&chart(), Qt::Key_Right);
  EXPECT_EQ(tree().textOf(chart().current()), "DistributedDataParallel.forward");
  QTest::keyClick(&chart(), Qt::Key_Return);
  EXPECT_EQ(chart().zoomed(), chart().current());
  QTest::keyClick(&chart(), Qt::Key_Left);  // has no width now
  EXPECT_EQ(tree().textOf(chart().current()), "DistributedDataParallel.forward");
  QTest::keyClick(&chart(), Qt::Key_Up);
  EXPECT_EQ(tree().textOf(chart().current()), "iteration");
  QTest::keyClick(&chart(), Qt::Key_Home);
  EXPECT_EQ(chart().zoomed(), kRoot);
}

TEST_F(FlameViewTest, MarksNamesWithTheirShare) {
  QTest::keyClicks(view().findChild<QLineEdit*>(), "LAYER");
  std::int64_t layers = 0;
  for (const char* name : {"layer1", "layer2", "layer3"})
    layers += tree().totalNs[nodeOf(name)];
  EXPECT_DOUBLE_EQ(chart().markedShare(),
                   static_cast<double>(layers) / static_cast<double>(tree().totalNs[kRoot]));
  view().search({});
  EXPECT_EQ(chart().markedShare(), 0);
}

TEST_F(FlameViewTest, InvertedBeginsWithTheTimeOfNamesThemselves) {
  const std::int64_t self = tree().selfNs[nodeOf("backward")];
  for (QToolButton* box : view().findChildren<QToolButton*>())
    if (box->text().contains("Inverted"))
      box->click();
  settle();
  const CallNode backward = nodeOf("backward");
  EXPECT_EQ(tree().depths[backward], 1);
  EXPECT_EQ(tree().totalNs[backward], self);
  EXPECT_EQ(tree().textOf(tree().firstChild[backward]), "iteration");
}

TEST_F(FlameViewTest, ThreadsApartBeginWithTheRanks) {
  view().divideByThread(true);
  settle();
  EXPECT_EQ(tree().childCount[kRoot], 2U);
  EXPECT_EQ(tree().depths[nodeOf("rank 1")], 1);
  EXPECT_EQ(tree().depths[nodeOf("gloo_0 4205")], 2);
}

TEST_F(FlameViewTest, TheCallTreeHasTheSameRowsAndMovesTheGraph) {
  const CallTreeModel& model = view().calls().tree();
  const QModelIndex iteration = model.index(0, CallTreeModel::Name, {});
  EXPECT_EQ(iteration.data().toString(), "iteration");
  const CallNode optimizer = nodeOf("SGD.step");
  view().calls().treeView().setCurrentIndex(model.indexOf(optimizer));
  EXPECT_EQ(chart().current(), optimizer);
  EXPECT_EQ(view().calls().name(), "SGD.step");
  emit view().calls().treeView().activated(model.indexOf(optimizer));
  EXPECT_EQ(chart().zoomed(), optimizer);
}

TEST_F(FlameViewTest, CallersAndCalleesAreThoseOfTheChosenName) {
  view().calls().chooseName("layer1");
  EXPECT_TRUE(view().calls().callers().rows().empty());  // nobody sees them
  view().calls().showNeighbours();
  ASSERT_EQ(view().calls().callers().rows().size(), 1U);
  EXPECT_EQ(view().calls().callers().rows()[0].values[0], "DistributedDataParallel.forward");
  ASSERT_EQ(view().calls().callees().rows().size(), 1U);
  EXPECT_EQ(view().calls().callees().rows()[0].values[0], "aten::convolution");
  EXPECT_EQ(view().calls().callees().rows()[0].values[3], 12);
}

TEST_F(FlameViewTest, TheMenuLeadsToTheLongestSlice) {
  QMenu menu;
  view().fillMenu(menu, nodeOf("iteration"));
  for (QAction* action : menu.actions())
    if (action->text().contains("longest"))
      action->trigger();
  settle();
  EXPECT_TRUE(window_.timeline().isVisible());
  ASSERT_TRUE(window_.models().selection.ref());
  EXPECT_EQ(number(QStringLiteral("SELECT dur_ns FROM v_slice WHERE id = %1")
                       .arg(window_.models().selection.ref()->id)),
            number("SELECT max(dur_ns) FROM v_slice WHERE name = 'iteration'"));
}

TEST_F(FlameViewTest, ACellOfTheScopeLimitsTheGraphToIt) {
  const ScopePane& scope = view().scope();
  ASSERT_EQ(scope.cells().columns.size(), 6U);
  ASSERT_EQ(scope.cells().rows, 50U);
  auto* const map = view().findChild<HeatMap*>();
  QTest::mouseClick(map, Qt::LeftButton, Qt::NoModifier, map->rectOf(20, 3).center().toPoint());
  settle();
  const auto time = scope.cells().timeOf(20, 3);
  ASSERT_TRUE(window_.models().view.area());
  EXPECT_EQ(window_.models().view.area()->span, (Span{time.begin, time.end}));
  EXPECT_EQ(scope.map().selection(), (HeatMap::Run{{20, 3}, {20, 3}}));
  EXPECT_EQ(tree().totalNs[nodeOf("iteration")],
            number(QStringLiteral("SELECT sum(min(end_ns, %1) - max(start_ns, %2)) FROM v_slice "
                                  "WHERE name = 'iteration' AND "
                                  "start_ns < %1 AND end_ns > %2")
                       .arg(time.end)
                       .arg(time.begin)));
  // From the middle of one iteration into the next.
  QTest::mousePress(map, Qt::LeftButton, Qt::NoModifier, map->rectOf(40, 1).center().toPoint());
  QTest::mouseMove(map, map->rectOf(5, 2).center().toPoint());
  QTest::mouseRelease(map, Qt::LeftButton, Qt::NoModifier, map->rectOf(5, 2).center().toPoint());
  settle();
  EXPECT_EQ(window_.models().view.area()->span,
            (Span{scope.cells().timeOf(40, 1).begin, scope.cells().timeOf(5, 2).end}));
}

TEST_F(FlameViewTest, TheKeyboardSelectsCellsOfTheScope) {
  auto* const map = view().findChild<HeatMap*>();
  for (const int key : {Qt::Key_Down, Qt::Key_Right, Qt::Key_Down})  // the first one enters it
    QTest::keyClick(map, static_cast<Qt::Key>(key));
  QTest::keyClick(map, Qt::Key_Right, Qt::ShiftModifier);
  EXPECT_EQ(map->selection(), (HeatMap::Run{{1, 1}, {1, 2}}));
  EXPECT_TRUE(map->accessibleDescription().contains("iteration 2"));
  QTest::keyClick(map, Qt::Key_Return);
  settle();
  const auto& cells = view().scope().cells();
  ASSERT_TRUE(window_.models().view.area());
  EXPECT_EQ(window_.models().view.area()->span,
            (Span{cells.timeOf(1, 1).begin, cells.timeOf(1, 2).end}));
}

TEST_F(FlameViewTest, WorkOfDevicesIsBelowItsLaunch) {
  (void)testing::writeDeviceWork(path("device.sonde"));
  open("device.sonde");
  auto* const source = view().findChild<QComboBox*>();
  ASSERT_EQ(source->count(), 2);
  view().choose(FlameSource::DeviceWork);
  settle();
  EXPECT_EQ(source->currentData().toInt(), static_cast<int>(FlameSource::DeviceWork));
  EXPECT_EQ(tree().totalNs[nodeOf("gemm_kernel")], 100'000);
  EXPECT_EQ(tree().textOf(tree().parents[nodeOf("gemm_kernel")]), "cudaGraphLaunch");
  EXPECT_EQ(placeOf(tree(), nodeOf("gemm_kernel")).event->table, Table::Kernel);
}

TEST_F(FlameViewTest, APartWithoutEventsSaysSo) {
  window_.models().focus.set({7, {}, {}});
  settle();
  EXPECT_TRUE(view().state().contains("nothing")) << view().state().toStdString();
  window_.models().focus.clear();
  settle();
  EXPECT_EQ(view().state(), "");
}

// 20,000 paths of equal time, none of which has half a pixel, and a wide one.
TEST(FlameChartTest, NarrowFramesShareARectangleAndNothingDisappears) {
  engine::callpaths::CallTreeBuilder builder;
  for (int number = 0; number < 20'000; ++number)
    builder.add(builder.child(kRoot, builder.nameOf("frame " + std::to_string(number))), 1);
  const CallNode wide = builder.child(kRoot, builder.nameOf("wide"));
  builder.add(wide, 20'000);
  FlameChart chart;
  chart.setPalette(plainPalette(false));
  chart.resize(400, 200);
  FlameData data;
  data.tree = std::make_shared<const CallTree>(
      std::move(builder).finish(engine::callpaths::CallTreeBuilder::Given::Selves));
  (void)chart.grab();  // lays it out
  chart.show(std::move(data));
  EXPECT_EQ(chart.rectangles(), 3U);
  EXPECT_EQ(chart.rectOf(1).width(), 200);  // the wide one is the first child
  const QImage image = chart.viewport()->grab().toImage();
  const QColor nothing = Theme(plainPalette(false)).background;
  for (int x = 201; x < 399; ++x)
    ASSERT_NE(image.pixelColor(x, 25), nothing) << x;
  // A click on them shows their surroundings, here everything.
  QTest::mouseClick(chart.viewport(), Qt::LeftButton, Qt::NoModifier, {300, 25});
  EXPECT_EQ(chart.zoomed(), kRoot);
}

}  // namespace
}  // namespace sonde::gui
