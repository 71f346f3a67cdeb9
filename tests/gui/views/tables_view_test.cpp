#include "gui/views/tables/tables_view.h"

#include "analysis/engine/summaries/summaries.h"
#include "analysis/store/trace_file.h"
#include "tests/gui/window_rig.h"
#include "tests/support/trace_builder.h"

#include <QTableView>

namespace sonde::gui {
namespace {

class TablesViewTest : public TimelineViewTest {
 protected:
  TablesViewTest() {
    window_.showView(QStringLiteral("tables"));
    openTraining();
  }

  [[nodiscard]] TablesView& view() {
    return *qobject_cast<TablesView*>(window_.view(QStringLiteral("tables")));
  }
};

TEST_F(TablesViewTest, HasTheNumbersOfTheSummaries) {
  const store::Database trace = test::must(store::openTrace(path("train.sonde")));
  int filled = 0;
  for (const auto& each : engine::metrics::summaryNames()) {
    view().choose(QString::fromUtf8(each.name.data(), static_cast<qsizetype>(each.name.size())));
    settle();
    const auto table = test::must(engine::metrics::summarise(trace, each.name));
    ASSERT_EQ(view().table().rows().size(), table.rows.size()) << each.name;
    ASSERT_EQ(view().table().columns().size(), table.columns.size()) << each.name;
    for (std::size_t row = 0; row < table.rows.size(); ++row)
      for (std::size_t column = 0; column < table.columns.size(); ++column)
        if (const auto* number = std::get_if<std::int64_t>(&table.rows[row][column])) {
          EXPECT_EQ(view().table().rows()[row].values[column].toLongLong(), *number);
          ++filled;
        }
    EXPECT_EQ(view().note().contains("no such events"), table.rows.empty());
  }
  EXPECT_GT(filled, 10);
}

TEST_F(TablesViewTest, ADoubleClickFindsTheEventsInTheTimeline) {
  view().choose(QStringLiteral("nvtx_sum"));
  settle();
  ASSERT_FALSE(view().table().rows().empty());
  emit view().placeWanted(view().table().rows().front().place);
  settle();
  EXPECT_TRUE(window_.models().selection.ref());
  EXPECT_EQ(window_.models().search.text(), view().table().rows().front().place.name);
}

}  // namespace
}  // namespace sonde::gui
