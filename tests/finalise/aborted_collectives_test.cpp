#include "analysis/finalise/aborted_collectives.h"

#include "tests/support/ingest_rig.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::ingest {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class AbortedCollectives : public ::testing::Test {
 protected:
  AbortedCollectives() {
    process_ =
        trace_.add(model::Process{.hostId = trace_.add(model::Host{.name = "a"}), .pid = 10});
    thread_ = trace_.add(model::Thread{.processId = process_, .tid = 10});
    aborted_ = communicator();
    other_ = communicator();
  }
  model::CommunicatorId communicator() {
    return trace_.add(model::Communicator{.processId = process_, .jobKey = "nccl:1", .size = 2});
  }
  // A collective whose call returns at once.
  model::CollectiveId collective(model::CommunicatorId in,
                                 std::int64_t start,
                                 model::OptionalInt duration,
                                 std::int64_t bytes = 4,
                                 model::OptionalText algorithm = {}) {
    model::Collective row = rowOf(in, start);
    row.bytes = bytes;
    row.durNs = duration;
    row.algorithm = algorithm;
    row.sliceId = call(start, start + 1);
    return trace_.add(row);
  }
  model::Collective rowOf(model::CommunicatorId in, std::int64_t start) {
    model::Collective row;
    row.processId = process_;
    row.communicatorId = in;
    row.bytes = 4;
    row.startNs = start;
    return row;
  }
  model::SliceId call(std::int64_t start, std::int64_t end) {
    return trace_.slice(thread_, model::SliceKind::Collective, "ncclAllReduce", {start, end});
  }
  void tell(const std::string& fact, model::CollectiveId of) {
    trace_.add(model::Arg{.owner = model::Owner::Collective,
                          .ownerId = of.value,
                          .keyId = trace_.name(fact),
                          .value = std::int64_t{1}});
  }
  void abortAt(std::int64_t ns) {
    trace_.add(model::Arg{.owner = model::Owner::Communicator,
                          .ownerId = aborted_.value,
                          .keyId = trace_.name("aborted_ns"),
                          .value = ns});
  }
  std::vector<std::string> marked(const std::string& sql) {
    trace_.finish(false);
    store::Database trace = test::must(store::Database::open(path_, store::Access::ReadWrite));
    store::Transaction transaction = test::must(store::Transaction::begin(trace));
    test::must(markAbortedCollectives(trace));
    test::must(transaction.commit());
    return test::readRows(trace, sql);
  }

  static constexpr const char* kMarked =
      "SELECT c.start_ns FROM collective c JOIN arg a ON a.owner = 'collective' AND a.owner_id = "
      "c.id JOIN string k ON k.id = a.key_id AND k.text = 'aborted' ORDER BY 1";
  static constexpr const char* kRows =
      "SELECT c.start_ns, c.dur_ns, a.value FROM collective c LEFT JOIN arg a ON a.owner = "
      "'collective' AND a.owner_id = c.id ORDER BY c.start_ns";
  test::TemporaryFolder folder_;
  const std::string path_ = folder_ / "aborted.sonde";
  test::TraceBuilder trace_{path_};
  model::ProcessId process_;
  model::ThreadId thread_;
  model::CommunicatorId aborted_;
  model::CommunicatorId other_;
};

TEST_F(AbortedCollectives, AreThoseThatHadNotEndedByThen) {
  collective(aborted_, 10, 5);
  collective(aborted_, 20, 100);  // its end was forced
  collective(aborted_, 30, {});
  collective(aborted_, 90, {});
  collective(aborted_, 93, {});
  abortAt(95);
  abortAt(90);
  EXPECT_THAT(marked(kRows), ElementsAre("10|5|-", "20|-|1", "30|-|1", "90|-|1", "93|-|-"));
}

TEST_F(AbortedCollectives, AreNotThoseBeforeOneThatHadEnded) {
  collective(aborted_, 10, {});
  collective(aborted_, 20, 5);
  collective(aborted_, 30, {});
  abortAt(90);
  EXPECT_THAT(marked(kRows), ElementsAre("10|-|-", "20|5|-", "30|-|1"));
}

TEST_F(AbortedCollectives, AreNotThoseThatNeverRanOrRunLaterOrElsewhere) {
  collective(aborted_, 10, {}, 0);
  collective(other_, 20, {});
  collective(other_, 30, 100);
  collective(aborted_, 91, {});
  abortAt(90);
  EXPECT_THAT(marked(kRows), ElementsAre("10|-|-", "20|-|-", "30|100|-", "91|-|-"));
}

TEST_F(AbortedCollectives, AreNotThoseWhoseEndNothingTells) {
  collective(aborted_, 10, 5);
  collective(aborted_, 20, {}, 4, "CE");
  tell("graph", collective(aborted_, 30, {}));
  collective(aborted_, 40, {});
  abortAt(90);
  EXPECT_THAT(marked(kMarked), ElementsAre("40"));
}

// A healthy run that aborts its communicators at the end, inside one node, without CUPTI.
TEST_F(AbortedCollectives, AreNoneInACommunicatorOfWhichNoEndIsKnown) {
  collective(aborted_, 10, {});
  collective(other_, 20, 5);
  collective(aborted_, 30, {});
  abortAt(90);
  EXPECT_THAT(marked(kMarked), IsEmpty());
}

TEST_F(AbortedCollectives, AreAllThatRanWhereTheFirstHung) {
  collective(aborted_, 10, 100);  // its end was forced
  collective(aborted_, 30, {});
  abortAt(90);
  EXPECT_THAT(marked(kRows), ElementsAre("10|-|1", "30|-|1"));
}

TEST_F(AbortedCollectives, AreThoseWhoseCallHadNotReturned) {
  collective(aborted_, 10, {});
  model::Collective blocked = rowOf(aborted_, 20);
  blocked.sliceId = call(20, 95);
  trace_.add(blocked);
  trace_.add(rowOf(aborted_, 30));  // it never ended either
  abortAt(90);
  EXPECT_THAT(marked(kMarked), ElementsAre("20", "30"));
}

TEST_F(AbortedCollectives, AreThoseOfWhichWorkNeverEnded) {
  collective(aborted_, 10, {});
  tell("unfinished", collective(aborted_, 20, {}));
  const model::CollectiveId launch = collective(aborted_, 30, {});
  tell("graph", launch);
  tell("unfinished", launch);
  tell("unfinished", collective(aborted_, 91, {}));
  abortAt(90);
  EXPECT_THAT(marked(kMarked), ElementsAre("20", "30"));
}

TEST_F(AbortedCollectives, AreNoneWithoutAnAbort) {
  collective(aborted_, 10, {});
  EXPECT_THAT(marked("SELECT * FROM arg"), IsEmpty());
}

}  // namespace
}  // namespace sonde::ingest
