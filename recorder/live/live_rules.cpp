#include "recorder/live/live_rules.h"

#include "analysis/store/communication_kernels.h"
#include "analysis/store/database.h"
#include "recorder/spool/host_clock.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <set>
#include <utility>

namespace sonde::recorder {
namespace {

constexpr std::chrono::milliseconds kPollEvery{1000};
constexpr std::int64_t kLongNs = 20'000'000;
// A reader this slow would let the log of the unfinished trace grow.
constexpr std::chrono::seconds kLongest{10};

std::int64_t threadCpuNs() {
  return nowNs(CLOCK_THREAD_CPUTIME_ID);
}

// The time after which something that took so long may be done again.
std::chrono::nanoseconds pauseAfter(std::int64_t cpuNs, std::size_t sharers) {
  const double pause =
      static_cast<double>(cpuNs) * static_cast<double>(sharers) / LiveRules::kShare;
  return std::max<std::chrono::nanoseconds>(
      kPollEvery, std::chrono::nanoseconds(static_cast<std::int64_t>(pause)));
}

}  // namespace

LiveRules::LiveRules(LiveOptions options)
    : options_(std::move(options)), today_(rules::todayInUtc()) {
  const rules::OwnedRules& custom = options_.rules.custom;
  for (const rules::ConfiguredRule& rule : options_.rules.rules) {
    const bool isCustom = std::any_of(
        custom.begin(), custom.end(), [&](const auto& each) { return each.get() == rule.info; });
    (isCustom ? long_ : quick_).states.push_back({&rule, isCustom});
  }
  quick_.thread = std::thread([this] { work(quick_); });
  long_.thread = std::thread([this] { work(long_); });
}

LiveRules::~LiveRules() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    long_.interrupted = true;
  }
  wake_.notify_all();
  quick_.thread.join();
  long_.thread.join();
}

// Returns false at the end.
bool LiveRules::waitForNext(Lane& lane) {
  std::unique_lock lock(mutex_);
  if (wake_.wait_for(lock, kPollEvery, [this] { return ending_; }))
    return false;
  lane.states.insert(lane.states.end(), lane.moved.begin(), lane.moved.end());
  lane.moved.clear();
  return true;
}

// Interrupts the long judgement in progress, if it is older than kLongest.
void LiveRules::interruptLong() {
  const std::lock_guard lock(mutex_);
  if (long_.judgingSince && Clock::now() - *long_.judgingSince >= kLongest)
    long_.interrupted = true;
}

void LiveRules::work(Lane& lane) {
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 10);
  const auto isToStop = [&lane] { return lane.interrupted.load(); };
  std::optional<store::Database> trace;
  std::optional<rules::Facts> facts;
  std::set<std::string> said;
  std::int64_t version = -1;
  ino_t file = 0;
  while (waitForNext(lane)) {
    if (&lane == &quick_)
      interruptLong();
    // Without room on the disk the recorder may have begun the trace anew.
    struct stat seen {};
    if (stat(options_.part.c_str(), &seen) == 0 &&
        seen.st_ino != std::exchange(file, seen.st_ino)) {
      facts.reset();
      trace.reset();
      version = -1;
    }
    if (!trace) {
      auto opened = store::Database::open(options_.part, store::Access::ReadOnly);
      if (!opened || !store::addCommunicationPatterns(*opened, options_.rules.communication))
        continue;  // the drainer has not created it yet, or creates it anew
      trace.emplace(*std::move(opened));
      trace->stopWhen(isToStop);
      facts.emplace(*trace);
    }
    // Unchanged: nobody has stored anything since.
    const auto now = trace->queryInteger("PRAGMA data_version");
    if (now && *now == version)
      continue;
    version = now ? *now : -1;
    if (const auto judged = judgeDue(*trace, *facts, lane);
        !judged && !lane.interrupted && said.insert(judged.error().message).second)
      options_.say("the rules could not read the recording: " + judged.error().message);
  }
}

// One read transaction, so that all rules see the same state and the log can be folded soon. A long
// judgement ends it.
Result<void> LiveRules::judgeDue(store::Database& trace, rules::Facts& facts, Lane& lane) {
  const auto now = Clock::now();
  if (now < lane.turnDue || std::none_of(lane.states.begin(), lane.states.end(), [&](auto& each) {
        return each.due <= now;
      }))
    return {};
  SONDE_TRY_ASSIGN(const auto snapshot, store::Transaction::begin(trace));
  const std::int64_t begunNs = threadCpuNs();
  SONDE_TRY(facts.refresh());
  lane.turnDue = now + pauseAfter(threadCpuNs() - begunNs, 2);
  std::stable_sort(lane.states.begin(), lane.states.end(), [](const auto& a, const auto& b) {
    return a.due < b.due;
  });
  for (std::size_t at = 0; at < lane.states.size() && lane.states[at].due <= now; ++at)
    if (!judge(facts, lane.states[at], lane))
      break;
  std::erase_if(lane.states, [](const RuleState& each) { return each.rule == nullptr; });
  return {};
}

// Returns whether the turn goes on. A rule that leaves the lane is nullptr then.
bool LiveRules::judge(rules::Facts& facts, RuleState& state, Lane& lane) {
  const auto begun = Clock::now();
  const std::int64_t begunNs = threadCpuNs();
  {
    const std::lock_guard lock(mutex_);
    if (ending_)
      return false;
    lane.judgingSince = begun;
  }
  const std::vector<rules::CheckResult> results =
      rules::judgeRule(facts, *state.rule, options_.rules.suppressions, today_);
  bool isEnding = false;
  bool isInterrupted = false;
  {
    const std::lock_guard lock(mutex_);
    lane.judgingSince.reset();
    isEnding = ending_;
    isInterrupted = lane.interrupted;
    if (!isEnding)
      lane.interrupted = false;
  }
  // A rule of the user may have a process of its own, whose time is not this thread's.
  const std::chrono::nanoseconds took = Clock::now() - begun;
  const std::int64_t costNs = state.isCustom ? took.count() : threadCpuNs() - begunNs;
  state.due = begun + pauseAfter(costNs, options_.rules.rules.size());
  if (isInterrupted) {
    if (!isEnding && !std::exchange(state.isReported, true))
      options_.say(
          fmt::format("the rule {} takes more than {} s beside this recording: it is "
                      "judged again later, and at the end",
                      state.rule->info->name,
                      kLongest.count()));
    return false;
  }
  for (const rules::CheckResult& result : results)
    if (begins(result))
      options_.fired(result);
  if (costNs <= kLongNs)
    return !isEnding;
  if (&lane == &quick_) {
    const std::lock_guard lock(mutex_);
    long_.moved.push_back(std::exchange(state, {}));
  }
  return false;
}

bool LiveRules::begins(const rules::CheckResult& result) {
  const std::lock_guard lock(mutex_);
  return firings_.begins(result);
}

}  // namespace sonde::recorder
