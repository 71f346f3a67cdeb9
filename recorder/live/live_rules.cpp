#include "recorder/live/live_rules.h"

#include "analysis/store/database.h"
#include "recorder/spool/host_clock.h"

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
constexpr std::int64_t kLongNs = 50'000'000;

std::int64_t threadCpuNs() {
  return nowNs(CLOCK_THREAD_CPUTIME_ID);
}

// The time after which something that took so long may be done again.
std::chrono::nanoseconds pauseAfter(std::int64_t cpuNs, std::size_t rules) {
  const double pause = static_cast<double>(cpuNs) * static_cast<double>(rules) / LiveRules::kShare;
  return std::max<std::chrono::nanoseconds>(
      kPollEvery, std::chrono::nanoseconds(static_cast<std::int64_t>(pause)));
}

}  // namespace

LiveRules::LiveRules(LiveOptions options)
    : options_(std::move(options)), today_(rules::todayInUtc()) {
  for (const rules::ConfiguredRule& rule : options_.rules.rules)
    states_.push_back({&rule, {}});
  thread_ = std::thread([this] { work(); });
}

LiveRules::~LiveRules() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::int64_t LiveRules::judgements() const {
  const std::lock_guard lock(mutex_);
  return judgements_;
}

std::int64_t LiveRules::cpuNs() const {
  const std::lock_guard lock(mutex_);
  return cpuNs_;
}

bool LiveRules::waitForNext() {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, kPollEvery, [this] { return ending_; });
}

void LiveRules::work() {
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 10);
  std::optional<store::Database> trace;
  std::optional<rules::Facts> facts;
  std::set<std::string> said;
  std::int64_t version = -1;
  ino_t file = 0;
  while (waitForNext()) {
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
      if (!opened)
        continue;  // the drainer has not created it yet, or creates it anew
      trace.emplace(*std::move(opened));
      facts.emplace(*trace);
    }
    // Unchanged: nobody has stored anything since.
    const auto now = trace->queryInteger("PRAGMA data_version");
    if (now && *now == version)
      continue;
    version = now ? *now : -1;
    if (const auto judged = judgeDue(*trace, *facts);
        !judged && said.insert(judged.error().message).second)
      options_.say("the rules could not read the recording: " + judged.error().message);
    const std::lock_guard lock(mutex_);
    cpuNs_ = threadCpuNs();
  }
}

// One read transaction, so that all rules see the same state and the log can be folded soon.
Result<void> LiveRules::judgeDue(store::Database& trace, rules::Facts& facts) {
  const auto now = Clock::now();
  if (now < turnDue_ || std::none_of(states_.begin(), states_.end(), [&](const auto& each) {
        return each.due <= now;
      }))
    return {};
  SONDE_TRY_ASSIGN(const auto snapshot, store::Transaction::begin(trace));
  std::int64_t begunNs = threadCpuNs();
  SONDE_TRY(facts.refresh());
  turnDue_ = now + pauseAfter(threadCpuNs() - begunNs, 1);
  begunNs = threadCpuNs();
  // Cheap rules come first, and a long one ends the turn, so that it delays no other for long.
  std::stable_sort(states_.begin(), states_.end(), [](const RuleState& a, const RuleState& b) {
    const bool isLong = a.cpuNs > kLongNs;
    return isLong != (b.cpuNs > kLongNs) ? !isLong : a.due < b.due;
  });
  for (RuleState& state : states_) {
    if (state.due > now)
      continue;
    for (const rules::CheckResult& result :
         rules::judgeRule(facts, *state.rule, options_.rules.suppressions, today_))
      if (firings_.begins(result))
        options_.fired(result);
    const std::int64_t endedNs = threadCpuNs();
    state.cpuNs = endedNs - begunNs;
    state.due = now + pauseAfter(state.cpuNs, states_.size());
    begunNs = endedNs;
    const std::lock_guard lock(mutex_);
    ++judgements_;
    if (ending_ || state.cpuNs > kLongNs)
      break;
  }
  return {};
}

}  // namespace sonde::recorder
