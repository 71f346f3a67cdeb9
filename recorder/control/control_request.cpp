#include "recorder/control/control_request.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

namespace sonde::recorder {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookEvery{10};
// The requester reads an answer within this time.
constexpr std::chrono::milliseconds kReadWithin{50};
constexpr int kVerbBits = 8;

// Whether `condition` became true in time.
bool waitUntil(Clock::time_point deadline, const std::function<bool()>& condition) {
  while (!condition()) {
    if (Clock::now() >= deadline)
      return false;
    std::this_thread::sleep_for(kLookEvery);
  }
  return true;
}

Error notAnswered(const AskOptions& options) {
  const bool lives = options.recorderLives();
  return {lives ? ErrorCode::Busy : ErrorCode::Io,
          lives ? "the recorder does not answer: it is stopped, or handles another request"
                : "the recorder ended meanwhile"};
}

}  // namespace

Result<std::string> askRecorder(RecorderWords& words, ControlVerb verb, const AskOptions& options) {
  const auto deadline = Clock::now() + options.patience;
  std::uint64_t mine = 0;
  std::uint64_t seen = 0;
  Clock::time_point seenAt = Clock::now();
  const bool posted = waitUntil(deadline, [&] {
    std::uint64_t last = words.request.load();
    if (std::exchange(seen, last) != last)
      seenAt = Clock::now();
    // The answer to another's request stays until the next one is answered.
    if (last != words.answered.load() || (last != 0 && Clock::now() < seenAt + kReadWithin))
      return false;
    mine = ((last >> kVerbBits) + 1) << kVerbBits | static_cast<std::uint64_t>(verb);
    return words.request.compare_exchange_strong(last, mine);
  });
  if (!posted)
    return notAnswered(options);
  const auto taken = [&] { return words.taken.load() == mine || !options.recorderLives(); };
  waitUntil(deadline, taken);
  // Withdraws the request under a new number, in the way in which the recorder marks it as done.
  std::uint64_t untaken = words.answered.load();
  if (words.taken.load() != mine && words.taken.compare_exchange_strong(untaken, mine)) {
    words.answered.store(mine);
    return notAnswered(options);
  }
  // A dump may take any time.
  const auto isAnswered = [&] { return words.answered.load() >> kVerbBits >= mine >> kVerbBits; };
  while (!isAnswered()) {
    if (!options.recorderLives())
      return notAnswered(options);
    std::this_thread::sleep_for(kLookEvery);
  }
  const std::string text(words.answer, ::strnlen(words.answer, sizeof words.answer));
  const bool isRefused = words.refused.load() != 0;
  if (words.answered.load() != mine)
    return Error{
        ErrorCode::Busy,
        "the recorder handled the request, but the answer to a later request replaced its answer"};
  if (isRefused)
    return Error{ErrorCode::Unsupported, text};
  return text;
}

std::optional<ControlVerb> takeRequest(RecorderWords& words) {
  const std::uint64_t request = words.request.load();
  std::uint64_t last = words.answered.load();
  if (request == last || !words.taken.compare_exchange_strong(last, request))
    return std::nullopt;
  return static_cast<ControlVerb>(request & ((1U << kVerbBits) - 1));
}

void answerRequest(RecorderWords& words, const Result<std::string>& answer) {
  const std::string& text = answer ? *answer : answer.error().message;
  const std::size_t bytes = std::min(text.size(), sizeof words.answer - 1);
  std::memcpy(words.answer, text.data(), bytes);
  words.answer[bytes] = '\0';
  words.refused.store(answer ? 0 : 1);
  words.answered.store(words.taken.load());
}

}  // namespace sonde::recorder
