#include "gui/views/graph/graph_view.h"

#include "tests/gui/window_rig.h"

#include <algorithm>
#include <numeric>

namespace sonde::gui {
namespace {

class GraphViewTest : public TimelineViewTest {
 protected:
  GraphViewTest() {
    window_.showView(QStringLiteral("graph"));
    openTraining();
  }

  [[nodiscard]] GraphView& view() {
    return *qobject_cast<GraphView*>(window_.view(QStringLiteral("graph")));
  }
  [[nodiscard]] static std::int64_t sumOf(const ValueTable& table, std::size_t column) {
    return std::accumulate(table.rows().begin(),
                           table.rows().end(),
                           std::int64_t{0},
                           [&](std::int64_t sum, const ValueRow& row) {
                             return sum + row.values[column].toLongLong();
                           });
  }
};

TEST_F(GraphViewTest, PathsSumToTheirIterations) {
  ASSERT_EQ(view().message(), "");
  std::int64_t all = 0;
  for (int path = 0; path < 6; ++path) {
    view().choose(path);
    ASSERT_FALSE(view().parts().rows().empty());
    all += sumOf(view().parts(), 4);
  }
  EXPECT_EQ(sumOf(view().shares(), 3), all);
  EXPECT_FALSE(view().slacks().rows().empty());
}

TEST_F(GraphViewTest, PartsFollowEachOtherAndLeadToTheirTime) {
  view().choose(2);
  const auto& rows = view().parts().rows();
  for (std::size_t row = 1; row < rows.size(); ++row)
    EXPECT_EQ(rows[row].place.span->beginNs, rows[row - 1].place.span->endNs);
  emit view().placeWanted(rows.front().place);
  settle();
  EXPECT_LE(shown().beginNs(), rows.front().place.span->beginNs);
  EXPECT_GE(shown().endNs(), rows.front().place.span->endNs);
}

// The part before on the path is among the needs, and one walks back from there.
TEST_F(GraphViewTest, NeighboursLeadAlongTheGraph) {
  view().choose(2);
  ASSERT_TRUE(view().centre());  // the longest part of the path
  view().choosePart(static_cast<int>(view().parts().rows().size()) - 1);
  ASSERT_TRUE(view().centre());
  const auto last = *view().centre();
  const auto& rows = view().neighbours().rows();
  const auto need = std::find_if(rows.begin(), rows.end(), [](const ValueRow& row) {
    return row.values[0].toString() == QLatin1String("needs");
  });
  ASSERT_NE(need, rows.end());
  view().goTo(static_cast<int>(need - rows.begin()));
  EXPECT_NE(*view().centre(), last);
  int back = -1;
  for (std::size_t row = 0; row < view().neighbours().rows().size(); ++row)
    if (view().neighbours().rows()[row].values[0].toString() == QLatin1String("needed by"))
      back = static_cast<int>(row);
  ASSERT_GE(back, 0);
  view().goTo(back);
  EXPECT_FALSE(view().neighbours().rows().empty());
}

// Each part lies on the track of its thread, and the bars of the path are seen.
TEST_F(GraphViewTest, DrawsThePathsOverTheTimeline) {
  window_.showView(QStringLiteral("timeline"));
  settle();
  key(Qt::Key_P);
  settle();
  const auto& parts = window_.models().path.parts();
  ASSERT_FALSE(parts.empty());
  window_.timeline().scrollToTrack(parts.front().track);
  settle();
  const QImage drawn = window_.timeline().grab().toImage();
  const Skeleton& skeleton = window_.models().document.skeleton();
  for (const PathOverlay::Part& part : parts)
    if (part.track >= 0) {
      EXPECT_NE(skeleton.tracks[static_cast<std::size_t>(part.track)].owner, Owner::Channel);
    }
  key(Qt::Key_P);
  settle();
  EXPECT_TRUE(window_.models().path.parts().empty());
  EXPECT_NE(window_.timeline().grab().toImage(), drawn);
}

}  // namespace
}  // namespace sonde::gui
