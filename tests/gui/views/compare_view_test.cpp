#include "gui/views/compare/compare_view.h"

#include "tests/gui/window_rig.h"
#include "tests/support/trace_builder.h"

namespace sonde::gui {
namespace {

class CompareViewTest : public TimelineViewTest {
 protected:
  CompareViewTest() {
    testing::writeTraining(path("before.sonde"), 60);
    testing::writeTraining(path("after.sonde"), 60);
    // Iterations and their parts take twice as long as before.
    store::Database after =
        test::must(store::Database::open(path("after.sonde"), store::Access::ReadWrite));
    test::must(after.exec("UPDATE iteration SET dur_ns = 2 * dur_ns"));
    window_.showView(QStringLiteral("compare"));
    open("after.sonde");
  }

  [[nodiscard]] CompareView& view() {
    return *qobject_cast<CompareView*>(window_.view(QStringLiteral("compare")));
  }
};

TEST_F(CompareViewTest, SaysWhatToChooseFirst) {
  EXPECT_TRUE(view().sentence().contains("Choose")) << view().sentence().toStdString();
  EXPECT_TRUE(view().table().rows().empty());
}

TEST_F(CompareViewTest, ShowsTheNumbersOfTheDifference) {
  view().compareWith({file("before.sonde")});
  settle();
  const auto diff = test::must(compareTraces({file("before.sonde")}, {file("after.sonde")}));
  ASSERT_EQ(view().table().rows().size(), diff.rows.size());
  const auto& iteration = view().table().rows().front().values;
  EXPECT_EQ(iteration[2], "slower");
  EXPECT_NEAR(iteration[6].toDouble(), 1.0, 0.01);
  EXPECT_EQ(iteration[6].toDouble(), diff.rows.front().shown.change);
  EXPECT_TRUE(view().sentence().startsWith("An iteration takes 100"))
      << view().sentence().toStdString();
}

TEST_F(CompareViewTest, AFileThatIsNoTraceIsNamed) {
  view().compareWith({file("none.sonde")});
  settle();
  EXPECT_TRUE(view().sentence().contains("none.sonde")) << view().sentence().toStdString();
}

}  // namespace
}  // namespace sonde::gui
