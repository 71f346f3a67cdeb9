#include "gui/views/findings/findings_view.h"

#include "gui/views/findings/collective_pane.h"
#include "gui/views/table/table_panel.h"
#include "gui/views/whatif/whatif_view.h"
#include "tests/gui/window_rig.h"
#include "tests/support/trace_builder.h"

#include <QCheckBox>
#include <QTableView>
#include <QTextBrowser>

#include <optional>

namespace sonde::gui {
namespace {

class FindingsViewTest : public TimelineViewTest {
 protected:
  // The loss of iteration 4 is NaN, and its process has a name that looks like HTML.
  FindingsViewTest() {
    testing::writeTraining(path("train.sonde"), 40);
    store::Database trace =
        test::must(store::Database::open(path("train.sonde"), store::Access::ReadWrite));
    test::must(trace.exec(
        "INSERT INTO string VALUES(100000, 'loss <b>x</b>');"
        "INSERT INTO scalar SELECT process_id, number, 100000, CASE WHEN number <> 4 THEN 1.0 / "
        "(number + 1) END, start_ns + 1000 FROM iteration"));
    window_.showView(QStringLiteral("findings"));
    open("train.sonde");
  }

  [[nodiscard]] FindingsView& view() {
    return *qobject_cast<FindingsView*>(window_.view(QStringLiteral("findings")));
  }
  [[nodiscard]] int rowOf(const QString& rule) {
    const auto& rows = view().table().rows();
    for (std::size_t row = 0; row < rows.size(); ++row)
      if (rows[row].values[2] == rule)
        return static_cast<int>(row);
    return -1;
  }
};

TEST_F(FindingsViewTest, ShowsWhatFiredWithItsEvidence) {
  const int row = rowOf(QStringLiteral("first-nan"));
  ASSERT_GE(row, 0);
  view().rows().view().selectRow(row);
  EXPECT_TRUE(view().page().contains("loss <b>x</b>")) << view().page().toStdString();
  EXPECT_TRUE(view().page().contains("What to do"));
  for (const ValueRow& each : view().table().rows())
    EXPECT_TRUE(each.values[0] == "fired" || each.values[0] == "error");
}

TEST_F(FindingsViewTest, ListsAllVerdictsOnRequest) {
  const auto few = view().table().rows().size();
  view().findChild<QCheckBox*>()->click();
  EXPECT_GT(view().table().rows().size(), few + 5);
  EXPECT_GE(rowOf(QStringLiteral("memory-leak")), 0);
}

// "sonde whatif TRACE --workers 4" is a link.
TEST_F(FindingsViewTest, ACommandLeadsToTheViewThatAnswersIt) {
  view().findChild<QCheckBox*>()->click();
  view().rows().selectRow(rowOf(QStringLiteral("data-loader")));
  QTextBrowser& page = view().browser();
  ASSERT_TRUE(page.find(QStringLiteral("--workers"))) << view().page().toStdString();
  QTest::mouseClick(
      page.viewport(), Qt::LeftButton, Qt::NoModifier, page.cursorRect().center() - QPoint(8, 0));
  settle();
  EXPECT_EQ(window_.wordInFront(), QLatin1String("whatif"));
  const auto* whatif = qobject_cast<WhatifView*>(window_.view(QStringLiteral("whatif")));
  EXPECT_EQ(whatif->options(), QStringList("--ask workers,n=4"));
}

TEST_F(FindingsViewTest, ADoubleClickShowsTheTime) {
  const int row = rowOf(QStringLiteral("first-nan"));
  ASSERT_GE(row, 0);
  QTableView& rows = view().rows().view();
  const QRect cell = rows.visualRect(rows.model()->index(row, 2));
  QTest::mouseClick(rows.viewport(), Qt::LeftButton, Qt::NoModifier, cell.center());
  QTest::mouseDClick(rows.viewport(), Qt::LeftButton, Qt::NoModifier, cell.center());
  settle();
  const auto& span = view().table().rows()[static_cast<std::size_t>(row)].place.span;
  ASSERT_TRUE(span);
  EXPECT_LE(shown().beginNs(), span->beginNs);
  EXPECT_GE(shown().endNs(), span->endNs);
  EXPECT_LT(shown().spanNs(), shown().boundsEndNs() - shown().boundsBeginNs());
}

// Two killed ranks: rank 0 waits in its second all-reduce, which rank 1 has not entered.
class HangViewTest : public TimelineViewTest {
 protected:
  HangViewTest() {
    constexpr std::int64_t kSecond = 1'000'000'000;
    test::TraceBuilder trace(path("hang.sonde"));
    trace.meta("origin_ns", "0");
    const auto host = trace.add(model::Host{.name = "h"});
    for (std::int64_t rank = 0; rank < 2; ++rank) {
      const auto process = trace.add(model::Process{.hostId = host,
                                                    .pid = 100 + rank,
                                                    .rank = rank,
                                                    .startNs = 0,
                                                    .endNs = 20 * kSecond,
                                                    .exitSignal = 9,
                                                    .state = model::ProcessState::Signalled,
                                                    .startTime = 1});
      const auto thread = trace.add(model::Thread{.processId = process, .tid = 100 + rank});
      const auto group = trace.add(model::Communicator{{}, process, "world", 2, rank, "gloo"});
      for (std::int64_t member = 0; member < 2; ++member)
        trace.add(model::CommunicatorMember{
            group, member, member, member == rank ? process : model::ProcessId{}});
      addCall(trace, {process, thread, group}, 0, kSecond, 1'000'000);
      if (rank == 0)
        addCall(trace, {process, thread, group}, 1, 5 * kSecond, {});
    }
    trace.finish();
    window_.showView(QStringLiteral("findings"));
    open("hang.sonde");
  }

  struct Caller {
    model::ProcessId process;
    model::ThreadId thread;
    model::CommunicatorId group;
  };
  // Without `durNs`: it never ended.
  static void addCall(test::TraceBuilder& trace,
                      const Caller& caller,
                      std::int64_t seq,
                      std::int64_t beginNs,
                      std::optional<std::int64_t> durNs) {
    const auto name = trace.name("gloo:allreduce");
    const auto slice = trace.add(model::Slice{.threadId = caller.thread,
                                              .kind = model::SliceKind::Collective,
                                              .category = "gloo",
                                              .nameId = name,
                                              .startNs = beginNs,
                                              .durNs = durNs});
    model::Collective row;
    row.processId = caller.process;
    row.communicatorId = caller.group;
    row.seq = seq;
    row.op = model::CollectiveOp::Allreduce;
    row.startNs = beginNs;
    row.durNs = durNs;
    row.sliceId = slice;
    const auto id = trace.add(row);
    if (durNs)
      return;
    model::OpenCall open;
    open.processId = caller.process;
    open.threadId = caller.thread;
    open.kind = "collective";
    open.category = "gloo";
    open.nameId = name;
    open.startNs = beginNs;
    open.seenNs = 20'000'000'000;
    open.sliceId = slice;
    open.collectiveId = id;
    open.communicatorId = caller.group;
    open.seq = seq;
    open.op = "allreduce";
    trace.add(open);
  }

  [[nodiscard]] CollectivePane& pane() {
    return qobject_cast<FindingsView*>(window_.view(QStringLiteral("findings")))->collectives();
  }
  [[nodiscard]] QString signAt(int row, int column) {
    return pane().matrix().index(row, column).data().toString();
  }
  void clickCell(int row, int column) {
    QTableView& cells = pane().view();
    const QModelIndex index = pane().matrix().index(row, column);
    cells.scrollTo(index);
    QTest::mouseClick(
        cells.viewport(), Qt::LeftButton, Qt::NoModifier, cells.visualRect(index).center());
    settle();
  }
};

TEST_F(HangViewTest, MarksTheRankThatHasNotCome) {
  ASSERT_TRUE(pane().isVisible());
  ASSERT_EQ(pane().matrix().rowCount({}), 2);
  ASSERT_EQ(pane().matrix().columnCount({}), 2);
  using State = CollectiveMatrix::State;
  for (int rank : {0, 1})
    EXPECT_EQ(signAt(rank, 0), CollectiveMatrix::signOf(State::Done)) << rank;
  EXPECT_EQ(signAt(0, 1), CollectiveMatrix::signOf(State::Waiting));
  EXPECT_EQ(signAt(1, 1), CollectiveMatrix::signOf(State::NotEntered));
}

TEST_F(HangViewTest, AClickLeadsToTheCallIfThereIsOne) {
  ASSERT_TRUE(pane().isVisible());
  clickCell(1, 1);
  EXPECT_EQ(window_.wordInFront(), "findings");
  EXPECT_TRUE(pane().chosen().startsWith("rank 1, allreduce 1: not entered"))
      << pane().chosen().toStdString();
  clickCell(0, 1);
  EXPECT_EQ(window_.wordInFront(), "timeline");
  ASSERT_TRUE(window_.models().selection.details());
  EXPECT_EQ(window_.models().selection.details()->event.block.startNs, 5'000'000'000);
  EXPECT_EQ(window_.models().selection.details()->event.name, "gloo:allreduce");
  EXPECT_LE(shown().beginNs(), 5'000'000'000);
  EXPECT_GT(shown().endNs(), 5'000'000'000);
}

}  // namespace
}  // namespace sonde::gui
