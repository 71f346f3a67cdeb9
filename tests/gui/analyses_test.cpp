#include "gui/models/trace_models.h"
#include "tests/gui/sample_trace.h"

#include <QTemporaryDir>
#include <QTest>

#include <gtest/gtest.h>

#include <optional>

namespace sonde::gui {
namespace {

// Runs until it is interrupted.
Result<std::int64_t> endless(const store::Database& trace) {
  return trace.queryInteger(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n");
}

Result<std::int64_t> slices(const store::Database& trace) {
  return trace.queryInteger("SELECT count(*) FROM slice");
}

class AnalysesTest : public ::testing::Test {
 protected:
  AnalysesTest() {
    testing::writeTraining(folder_.filePath("a.sonde").toStdString(), 3);
    open();
  }

  void open() {
    models_.document.open({folder_.filePath("a.sonde")});
    settle();
    ASSERT_TRUE(models_.document.ready());
  }
  void settle() {
    ASSERT_TRUE(QTest::qWaitFor([&] { return models_.settled(); }, 20'000));
  }
  void askFor(QObject& asker, Result<std::int64_t> (*query)(const store::Database&)) {
    models_.analyses.ask(asker, query, [this](const Result<std::int64_t>& answer) {
      ++answers_;
      answer_ = answer;
    });
  }

  QTemporaryDir folder_;
  TraceModels models_;
  QObject asker_;
  int answers_ = 0;
  std::optional<Result<std::int64_t>> answer_;
};

TEST_F(AnalysesTest, AnswersOnTheMainThread) {
  askFor(asker_, slices);
  EXPECT_FALSE(models_.settled());
  settle();
  ASSERT_EQ(answers_, 1);
  EXPECT_GT(**answer_, 10);
}

TEST_F(AnalysesTest, AnErrorIsAnAnswer) {
  askFor(asker_, [](const store::Database& trace) {
    return trace.queryInteger("SELECT count(*) FROM no_such_table");
  });
  settle();
  ASSERT_EQ(answers_, 1);
  EXPECT_FALSE(static_cast<bool>(*answer_));
}

TEST_F(AnalysesTest, ANewerQueryInterruptsTheOlderOne) {
  askFor(asker_, endless);
  QTest::qWait(50);
  askFor(asker_, slices);
  settle();
  EXPECT_EQ(answers_, 1);
  EXPECT_TRUE(static_cast<bool>(*answer_));
}

// Engines run many statements.
TEST_F(AnalysesTest, AnInterruptedQueryEndsBetweenStatements) {
  askFor(asker_, [](const store::Database& trace) -> Result<std::int64_t> {
    while (true)
      SONDE_TRY(trace.queryInteger("SELECT 1"));
  });
  QTest::qWait(50);
  models_.analyses.cancel(asker_);
  settle();
  EXPECT_EQ(answers_, 0);
}

TEST_F(AnalysesTest, ALongQueryDelaysNoOther) {
  askFor(asker_, endless);
  QObject other;
  askFor(other, slices);
  ASSERT_TRUE(QTest::qWaitFor([&] { return answers_ == 1; }, 20'000));
  models_.analyses.cancel(asker_);
  settle();
  EXPECT_EQ(answers_, 1);
}

TEST_F(AnalysesTest, AnotherTraceInterruptsAll) {
  askFor(asker_, endless);
  open();
  EXPECT_EQ(answers_, 0);
}

TEST_F(AnalysesTest, AnAskerThatIsGoneGetsNoAnswer) {
  {
    QObject asker;
    askFor(asker, endless);
  }
  settle();
  EXPECT_EQ(answers_, 0);
}

}  // namespace
}  // namespace sonde::gui
