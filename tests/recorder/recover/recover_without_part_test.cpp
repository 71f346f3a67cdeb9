// Recovery of a session whose unfinished trace is gone, with records that were only in it.
#include "analysis/store/trace_name.h"
#include "recorder/spool/session_page.h"
#include "tests/recorder/recover/recover_rig.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace sonde::recorder {
namespace {

namespace fs = std::filesystem;

using test::SpoolBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using wire::SliceKind;

// A full slot was stored and given back, so only the unfinished trace has its records.
class RecoverWithoutPartTest : public RecoverTest {
 protected:
  RecoverWithoutPartTest() {
    EXPECT_TRUE(SessionPage::create(session(), 1, 1 << 20));
    SpoolBuilder spool;
    spool.call(0, SliceKind::Api, "stored", 1000, 1100);
    spool.call(0, SliceKind::Api, "stored, too", 1150, 1160);
    wire::OpenScope scope{};
    scope.beginTicks = 1120;
    scope.name = spool.string("iteration");
    scope.token = 77;
    scope.kind = SliceKind::Iteration;
    spool.openSlot(0, {scope});
    spool.call(0, SliceKind::Api, "left", 1200, 1300);
    spool.end(0, 77, 1400);
    const auto file = spool.write(session());
    // The file stays as long as its process lives.
    spool.header().pid = ::getpid();
    spool.header().startTime = processStartTime(::getpid());
    fs::remove(file);
    spool.write(session());
    drainer()->drainOnce();
    spool.header().pid = 1 << 22;
    fs::rename(part(), moved_);
    options_.stop = &stop_;
  }
  const fs::path moved_ = folder_.path() / "moved.part";
  std::atomic<bool> stop_{true};
};

TEST_F(RecoverWithoutPartTest, RefusesAndKeepsAllThereIs) {
  for (const fs::path& elsewhere : {fs::path(), folder_.path() / "rescued.sonde"}) {
    options_.output = elsewhere;
    const auto refused = recoverSession(session(), options_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::NotFound);
    EXPECT_THAT(refused.error().message,
                testing::AllOf(testing::StartsWith(part().string() + " is gone"),
                               testing::HasSubstr("at least 2 records"),
                               testing::HasSubstr("move it back there, with its -wal")));
    EXPECT_FALSE(fs::exists(output()) || fs::exists(part()));
  }
  options_.output.clear();
  fs::rename(moved_, part());
  const auto recovered = recoverSession(session(), options_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_THAT(names(output()), ElementsAre("stored", "stored, too", "iteration", "left"));
}

TEST_F(RecoverWithoutPartTest, CountsWhatIsGoneWhenForced) {
  options_.replace = true;
  const auto recovered = recoverSession(session(), options_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_THAT(names(output()), ElementsAre("iteration", "left"));
  auto trace = store::openTrace(output());
  ASSERT_TRUE(trace);
  EXPECT_THAT(test::readRows(*trace, "SELECT count, reason FROM loss"),
              ElementsAre("2|part missing"));
  EXPECT_THAT(test::readRows(*trace, "SELECT text FROM note"),
              ElementsAre(testing::HasSubstr("at least 2 records that only it had are lost")));
  EXPECT_THAT(test::readRows(*trace, "SELECT number FROM iteration"), IsEmpty());
}

// The earlier attempt was killed, or ran out of disk, before it stored anything in the new trace.
TEST_F(RecoverWithoutPartTest, CountsWhatIsGoneWhereverAnEarlierAttemptDied) {
  const auto begun = [this] { ASSERT_TRUE(store::createTrace(part())); };
  const auto empty = [this] { std::ofstream(part()).close(); };
  const auto adopted = [this] { drainer(true); };
  for (const std::function<void()>& attempt : {std::function<void()>(begun), {empty}, {adopted}}) {
    store::removeTrace(part());
    attempt();
    options_.output = folder_.path() / "rescued.sonde";
    options_.replace = true;
    const auto recovered = recoverSession(session(), options_);
    ASSERT_TRUE(recovered) << recovered.error().message;
    auto trace = store::openTrace(options_.output);
    ASSERT_TRUE(trace);
    EXPECT_THAT(test::readRows(*trace, "SELECT count, reason FROM loss"),
                ElementsAre("2|part missing"));
    EXPECT_THAT(test::readRows(*trace, "SELECT count(*) FROM note"), ElementsAre("1"));
  }
  options_.output.clear();
  const auto recovered = recoverSession(session(), options_);
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_THAT(recovered->totals.dropped, ElementsAre(std::pair("part missing", 2)));
}

TEST_F(RecoverWithoutPartTest, RefusesAPartThatWasBegunAnewButHasNothing) {
  std::ofstream(part()).close();
  const auto refused = recoverSession(session(), options_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              testing::AllOf(testing::StartsWith(part().string() + " was started again"),
                             HasSubstr("at least 2 records")));
  EXPECT_EQ(fs::file_size(part()), 0U);
  EXPECT_TRUE(fs::exists(session() / "manifest.json"));
}

// Another recording has taken the name of this one's unfinished trace.
class RecoverReplacedPartTest : public RecoverWithoutPartTest {
 protected:
  RecoverReplacedPartTest() {
    fs::create_directories(another_);
    DrainerOptions options;
    options.folder = another_;
    options.part = part();
    auto recorder = Drainer::open(options);
    EXPECT_TRUE(recorder);
    recorder_ = *std::move(recorder);
  }
  // `place`: the name that is taken.
  void expectWayOut(const fs::path& place, const std::string& why) {
    const auto refused = recoverSession(session(), options_);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message,
                testing::AllOf(testing::StartsWith(place.string() + " is "),
                               HasSubstr("sonde recover " + session().string() + " -o OTHER -f"),
                               HasSubstr("at least 2 records")));
    options_.output = folder_.path() / "rescued.sonde";
    const auto unforced = recoverSession(session(), options_);
    ASSERT_FALSE(unforced);
    EXPECT_THAT(unforced.error().message, testing::StartsWith(why));
    EXPECT_THAT(unforced.error().message,
                testing::AllOf(HasSubstr("at least 2 records"), HasSubstr("give -f to write")));
    const std::string before = test::readText(place);
    options_.replace = true;
    const auto recovered = recoverSession(session(), options_);
    ASSERT_TRUE(recovered) << recovered.error().message;
    EXPECT_THAT(names(options_.output), ElementsAre("iteration", "left"));
    EXPECT_THAT(recovered->totals.dropped, ElementsAre(std::pair("part missing", 2)));
    EXPECT_THAT(recovered->totals.warnings, ElementsAre(HasSubstr("removed or replaced")));
    EXPECT_EQ(test::readText(place), before);
  }
  const fs::path another_ = folder_.path() / "other" / "1-other";
  std::unique_ptr<Drainer> recorder_;
};

TEST_F(RecoverReplacedPartTest, WritesWhatIsLeftWhileTheOtherIsRecorded) {
  const std::string why =
      "the unfinished trace " + part().string() + " was replaced by another recording";
  expectWayOut(part(), why);
  options_.replace = false;
  options_.output = folder_.path() / "again.sonde";
  EXPECT_THAT(recoverSession(session(), options_).error().message,
              testing::Not(HasSubstr("move it back")));
}

TEST_F(RecoverReplacedPartTest, WritesWhatIsLeftWhenTheOtherIsFinished) {
  ASSERT_TRUE(recorder_->finish(output()));
  expectWayOut(output(), part().string() + " is gone (" + output().string());
}

// Each recorder of a session starts with the records that earlier ones have stored.
TEST_F(RecoverTest, CountsEachRecordThatWentBackOnce) {
  auto page = SessionPage::create(session(), 1, 1 << 20);
  ASSERT_TRUE(page);
  const pid_t child = ::fork();
  if (child == 0)
    for (;;)
      ::pause();
  SpoolBuilder spool(child);
  spool.header().startTime = processStartTime(child);
  for (const char* name : {"first", "of the same slot"})
    spool.call(0, SliceKind::Api, name, 1000, 1100);
  spool.openSlot(0);
  spool.call(0, SliceKind::Api, "third", 1200, 1300);
  const fs::path file = spool.write(session());
  for (int recorder = 0; recorder < 4; ++recorder)
    drainer()->drainOnce();
  EXPECT_EQ(page->givenBack(), 2U);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  drainer()->drainOnce();
  EXPECT_FALSE(fs::exists(file));
  EXPECT_EQ(page->givenBack(), 3U);
}

}  // namespace
}  // namespace sonde::recorder
