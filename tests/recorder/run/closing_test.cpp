#include "recorder/run/closing.h"

#include <gmock/gmock.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <thread>

namespace sonde::recorder {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A recording that lasts until it is told to end, while signals come one after the other.
class Closing : public ::testing::Test {
 protected:
  // `hurried_`: whether it skipped the optional parts after a request to stop.
  Result<RecordingSummary> finishDuring(const std::vector<int>& signals) {
    auto relay = launcher::SignalRelay::install();
    EXPECT_TRUE(relay);
    const int end = eventfd(0, EFD_CLOEXEC);
    std::thread sender([&] {
      for (const int signal : signals) {
        kill(getpid(), signal);
        while (isPending(signal))
          std::this_thread::yield();
      }
      eventfd_write(end, 1);
    });
    auto result = finishInterruptibly(
        [hurried = hurried_, end](const std::stop_token& asked) {
          eventfd_t value = 0;
          eventfd_read(end, &value);
          *hurried = asked.stop_requested();
          return Result<RecordingSummary>(RecordingSummary{});
        },
        *relay,
        [this](const std::string& line) { lines_.push_back(line); });
    sender.join();
    return result;
  }

  static bool isPending(int signal) {
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, signal) == 1;
  }

  std::vector<std::string> lines_;
  // Shared with a recording that is left unfinished, whose thread may outlive the test.
  std::shared_ptr<std::atomic<bool>> hurried_ = std::make_shared<std::atomic<bool>>(false);
};

TEST_F(Closing, SaysNothingAboutChildrenThatEnd) {
  EXPECT_TRUE(finishDuring({SIGCHLD, SIGCHLD, SIGWINCH}));
  EXPECT_THAT(lines_, IsEmpty());
  EXPECT_FALSE(*hurried_);
}

TEST_F(Closing, SaysOnceThatTheTraceIsBeingFinished) {
  EXPECT_TRUE(finishDuring({SIGCHLD, SIGINT, SIGCHLD, SIGCHLD, SIGCHLD}));
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("repeat to leave it unfinished")));
  EXPECT_TRUE(*hurried_);
}

TEST_F(Closing, HurriesWhenABatchSystemSaysThatTheEndIsNear) {
  EXPECT_TRUE(finishDuring({SIGUSR1, SIGXCPU, SIGUSR1}));
  EXPECT_TRUE(*hurried_);
}

// The signals of a terminal that goes away.
TEST_F(Closing, FinishesThoughItHangsUpMoreThanOnce) {
  EXPECT_TRUE(finishDuring({SIGHUP, SIGHUP, SIGHUP}));
  EXPECT_TRUE(*hurried_);
}

TEST_F(Closing, LeavesTheTraceUnfinishedWhenAskedTwice) {
  const auto result = finishDuring({SIGINT, SIGTERM});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("finish it with sonde recover"));
}

}  // namespace
}  // namespace sonde::recorder
