#include "recorder/control/control_request.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

namespace sonde::recorder {
namespace {

using std::chrono::milliseconds;

AskOptions asking(bool lives, milliseconds patience = milliseconds(5000)) {
  return {patience, [lives] { return lives; }};
}

TEST(ControlRequest, IsAnsweredInItsWords) {
  const auto words = std::make_unique<RecorderWords>();
  EXPECT_FALSE(takeRequest(*words));
  std::atomic<bool> over{false};
  std::thread recorder([&] {
    while (!over)
      if (const auto verb = takeRequest(*words))
        answerRequest(*words,
                      *verb == ControlVerb::Dump ? Error{ErrorCode::Unsupported, "no ring"}
                                                 : Result<std::string>("done"));
  });
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(*askRecorder(*words, ControlVerb::Stop, asking(true)), "done");
    const auto refused = askRecorder(*words, ControlVerb::Dump, asking(true));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Unsupported);
    EXPECT_EQ(refused.error().message, "no ring");
  }
  over = true;
  recorder.join();
}

TEST(ControlRequest, ThatNobodyTakesUpIsTakenBack) {
  const auto words = std::make_unique<RecorderWords>();
  const auto slow = askRecorder(*words, ControlVerb::Stop, asking(true, milliseconds(20)));
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().code, ErrorCode::Busy);
  EXPECT_FALSE(takeRequest(*words)) << "it is not done behind the back of who gave it up";
  const auto dead = askRecorder(*words, ControlVerb::Stop, asking(false));
  ASSERT_FALSE(dead);
  EXPECT_EQ(dead.error().code, ErrorCode::Io);
}

TEST(ControlRequest, ALongAnswerIsCut) {
  const auto words = std::make_unique<RecorderWords>();
  words->request = 1 << 8 | static_cast<int>(ControlVerb::Start);
  ASSERT_EQ(takeRequest(*words), ControlVerb::Start);
  answerRequest(*words, std::string(5000, 'a'));
  EXPECT_EQ(std::string(words->answer).size(), sizeof words->answer - 1);
  EXPECT_EQ(words->answered.load(), words->request.load());
}

}  // namespace
}  // namespace sonde::recorder
