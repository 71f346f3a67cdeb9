#include "gui/views/whatif/whatif_view.h"

#include "analysis/engine/operations/read_job.h"
#include "analysis/engine/whatif/answer.h"
#include "analysis/questions/question_words.h"
#include "analysis/store/trace_file.h"
#include "gui/views/chart/bar_chart.h"
#include "gui/views/chart/lane_chart.h"
#include "gui/views/whatif/plan_panel.h"
#include "gui/views/whatif/question_editor.h"
#include "tests/gui/window_rig.h"

#include <QLineEdit>
#include <QSlider>

#include <numeric>

namespace sonde::gui {
namespace {

class WhatifViewTest : public TimelineViewTest {
 protected:
  WhatifViewTest() {
    window_.showView(QStringLiteral("whatif"));
    openTraining();
  }

  [[nodiscard]] WhatifView& view() {
    return *qobject_cast<WhatifView*>(window_.view(QStringLiteral("whatif")));
  }
  void addScale(const QString& selector, const QString& factor) {
    view().editor().choose(QStringLiteral("scale"));
    view().editor().field(QStringLiteral("SEL")).setText(selector);
    view().editor().field(QStringLiteral("K")).setText(factor);
    view().addEdited();
    settle();
  }
  // As `sonde whatif --scale TEXT` computes it.
  [[nodiscard]] engine::whatif::Answer scaled(const std::string& text) {
    const auto trace = test::must(store::openTrace(path("train.sonde")));
    auto job = test::must(engine::operations::readJob(trace, false));
    const auto question = test::must(questions::findWord("scale")->parse(text, {}));
    return test::must(engine::whatif::answer(trace, std::move(job.trace), {question}));
  }
};

TEST_F(WhatifViewTest, AnswersAsTheCommandLine) {
  ASSERT_EQ(view().message(), "");
  EXPECT_FALSE(view().answer());
  addScale(QStringLiteral("name:conv1"), QStringLiteral("0.5"));
  ASSERT_TRUE(view().answer()) << view().headline().toStdString();
  const auto expected = scaled("name:conv1=0.5");
  EXPECT_LT(expected.predictedNs, expected.baselineNs);
  EXPECT_EQ(view().answer()->predictedNs, expected.predictedNs);
  EXPECT_EQ(view().answer()->lowNs, expected.lowNs);
  EXPECT_EQ(view().options(), QStringList(QStringLiteral("--scale name:conv1=0.5")));
  EXPECT_TRUE(view().command().startsWith(QLatin1String("sonde whatif ")));
  EXPECT_TRUE(view().command().endsWith(QLatin1String("--scale name:conv1=0.5")));
}

TEST_F(WhatifViewTest, BarsSumToTheIterationNowAndThen) {
  addScale(QStringLiteral("kind:host"), QStringLiteral("0.5"));
  ASSERT_EQ(view().bars().data().bars.size(), 2U);
  const auto sum = [&](std::size_t bar) {
    const auto& values = view().bars().data().bars[bar].values;
    return std::accumulate(values.begin(), values.end(), 0.0);
  };
  EXPECT_NEAR(sum(0), view().answer()->baselineNs, 1e-6 * view().answer()->baselineNs);
  EXPECT_NEAR(sum(1), view().answer()->predictedNs, 1e-6 * view().answer()->predictedNs);
  EXPECT_FALSE(view().path().rows().empty());
}

TEST_F(WhatifViewTest, SliderAsksAtOnce) {
  addScale(QStringLiteral("name:conv1"), QStringLiteral("1"));
  const double before = view().answer()->predictedNs;
  QSlider* slider = view().editor().slider(QStringLiteral("K"));
  ASSERT_NE(slider, nullptr);
  EXPECT_EQ(slider->value(), slider->maximum() / 2);
  slider->setValue(0);
  QTest::qWait(150);
  settle();
  EXPECT_EQ(view().options().front(), QStringLiteral("--scale name:conv1=0"));
  EXPECT_LT(view().answer()->predictedNs, before);
}

TEST_F(WhatifViewTest, AnotherQuestionIsAnotherChange) {
  addScale(QStringLiteral("name:conv1"), QStringLiteral("0.5"));
  view().editor().choose(QStringLiteral("remove"));
  view().editor().field(QStringLiteral("SEL")).setText(QStringLiteral("name:layer1"));
  view().addEdited();
  settle();
  EXPECT_EQ(view().options(), (QStringList{"--scale name:conv1=0.5", "--remove name:layer1"}));
  EXPECT_TRUE(view().answer());
}

TEST_F(WhatifViewTest, ReportsWhatItCannotAnswerAndGoesOn) {
  addScale(QStringLiteral("name:nothing*"), QStringLiteral("0.5"));
  EXPECT_FALSE(view().answer());
  EXPECT_TRUE(view().headline().contains(QLatin1String("nothing")))
      << view().headline().toStdString();
  view().removeCurrent();
  settle();
  EXPECT_TRUE(view().options().isEmpty());
  view().editor().field(QStringLiteral("SEL")).clear();
  view().addEdited();
  EXPECT_NE(view().editor().error(), "");
  addScale(QStringLiteral("name:conv1"), QStringLiteral("0.5"));
  EXPECT_TRUE(view().answer());
}

TEST_F(WhatifViewTest, TimelinesHaveTheSameWorkNowAndThen) {
  addScale(QStringLiteral("kind:host"), QStringLiteral("0.5"));
  const LaneData& lanes = view().lanes().data();
  ASSERT_EQ(lanes.groups.size(), 2U);
  ASSERT_FALSE(lanes.groups[0].spans.empty());
  EXPECT_EQ(lanes.groups[0].spans.size(), lanes.groups[1].spans.size());
  EXPECT_EQ(lanes.groups[0].lanes, lanes.groups[1].lanes);
  EXPECT_LT(lanes.groups[1].endNs, lanes.groups[0].endNs);
  const auto work = [](const LaneGroup& group) {
    return std::accumulate(
        group.spans.begin(),
        group.spans.end(),
        std::int64_t{0},
        [](std::int64_t sum, const auto& span) { return sum + span.endNs - span.beginNs; });
  };
  EXPECT_LT(work(lanes.groups[1]), work(lanes.groups[0]));
}

TEST_F(WhatifViewTest, PlanIsAPreview) {
  view().plan().search();
  settle();
  ASSERT_NE(view().plan().text(), "");
  std::vector<AskedChange> changes;
  for (const TriedChange& each : view().plan().tried())
    changes.push_back(each.change);
  emit view().plan().planWanted(changes);
  settle();
  EXPECT_EQ(static_cast<std::size_t>(view().options().size()), changes.size());
  EXPECT_EQ(view().answer() != nullptr, !changes.empty());
}

TEST(QuestionForm, OptionsReadBackAsTheirForm) {
  for (std::size_t at = 0; at < questionForms().size(); ++at) {
    const QuestionForm& form = questionForms()[at];
    QStringList values;
    for (const FormField& field : form.fields)
      values << (field.isSelector          ? QStringLiteral("kind:copy,name:a'b")
                 : field.initial.isEmpty() ? QString()
                                           : field.initial);
    const auto asked = form.ask(values);
    if (!asked)
      continue;  // it needs a value that has no default
    const auto filled = filledForm(asked->option);
    ASSERT_TRUE(filled) << asked->option.toStdString();
    EXPECT_EQ(filled->form, at) << asked->option.toStdString();
    EXPECT_EQ(filled->values, values) << asked->option.toStdString();
  }
}

TEST(QuestionForm, WordsOfTheOptimiserHaveAForm) {
  const auto filled = filledForm(QStringLiteral("--workers 4"));
  ASSERT_TRUE(filled);
  EXPECT_EQ(questionForms()[filled->form].name, "workers");
  EXPECT_EQ(filled->values.front(), "4");
  EXPECT_FALSE(filledForm(QStringLiteral("--no-such 4")));
}

TEST(FieldRange, ConvertsBothWays) {
  const FieldRange range{1, 256, true, true, {}, QStringLiteral("MiB")};
  EXPECT_EQ(range.textAt(0), "1MiB");
  EXPECT_EQ(range.textAt(1), "256MiB");
  EXPECT_EQ(range.textAt(0.5), "16MiB");
  EXPECT_DOUBLE_EQ(*range.partOf(QStringLiteral("16MiB")), 0.5);
  EXPECT_FALSE(range.partOf(QStringLiteral("16GiB")));
  EXPECT_DOUBLE_EQ(*range.partOf(QStringLiteral("512MiB")), 1);
}

}  // namespace
}  // namespace sonde::gui
