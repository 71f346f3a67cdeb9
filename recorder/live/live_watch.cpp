#include "recorder/live/live_watch.h"

#include "recorder/live/webhook.h"
#include "rules/reporters/reporters.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::recorder {
namespace {

StopPlan planOf(const rules::StopSettings& settings) {
  return {settings.checkpointSignal,
          std::chrono::milliseconds(static_cast<std::int64_t>(1000 * settings.checkpointWait)),
          std::chrono::milliseconds(static_cast<std::int64_t>(1000 * settings.grace))};
}

model::Severity severityOf(rules::Severity severity) {
  return severity == rules::Severity::Error     ? model::Severity::Error
         : severity == rules::Severity::Warning ? model::Severity::Warning
                                                : model::Severity::Info;
}

// Moves the rules that need the traces of all ranks out of `own`.
rules::Configuration takeJobRules(rules::Configuration& own) {
  rules::Configuration ofJob = own;
  std::erase_if(own.rules, [](const auto& rule) { return rule.info->comparesRanks; });
  std::erase_if(ofJob.rules, [](const auto& rule) { return !rule.info->comparesRanks; });
  return ofJob;
}

// Without its path and query, which may hold a secret.
std::string placeOf(const std::string& url) {
  const std::size_t host = url.find("://");
  const std::size_t from = host == std::string::npos ? 0 : host + 3;
  const std::size_t end = std::min(url.find_first_of("/?#", from), url.size());
  const std::size_t secret = url.rfind('@', end);
  if (secret != std::string::npos && secret >= from && secret < end)
    return url.substr(0, from) + url.substr(secret + 1, end - secret - 1);
  return url.substr(0, end);
}

}  // namespace

LiveWatch::LiveWatch(WatchOptions options)
    : options_(std::move(options)), stop_(planOf(options_.rules.stop), options_.say) {
  for (const std::string& command : options_.onFire.commands)
    reactions_.push_back(std::make_unique<ReactionQueue>(
        fmt::format("the command '{}'", command),
        runCommand(command, [this](const auto& start) { return stop_.spareStarted(start); }),
        options_.say));
  for (const std::string& url : options_.onFire.webhooks)
    if (auto post = postTo(url))
      reactions_.push_back(std::make_unique<ReactionQueue>(
          fmt::format("the webhook {}", placeOf(url)), *std::move(post), options_.say));
  rules::Configuration own = options_.rules;
  if (options_.job)
    watchJob(*options_.job, takeJobRules(own));
  rules_ = std::make_unique<LiveRules>(
      LiveOptions{options_.part,
                  std::move(own),
                  [this](const rules::CheckResult& result) { fired(result); },
                  options_.say});
}

LiveWatch::~LiveWatch() {
  end();
}

void LiveWatch::watchJob(const WatchedJob& job, rules::Configuration rules) {
  JobWatchOptions options;
  options.part = options_.part;
  options.job = job;
  options.rules = std::move(rules);
  options.fired = [this](const rules::CheckResult& result) { fired(result); };
  options.stopped = [this](const std::string& why) { stoppedBy(why); };
  options.say = options_.say;
  job_ = std::make_unique<JobWatch>(std::move(options));
}

bool LiveWatch::end() {
  rules_.reset();
  job_.reset();
  const bool isGone = stop_.isRequested() && stop_.finish();
  for (const auto& reaction : reactions_)
    reaction->endSoon();  // all at once
  reactions_.clear();
  return isGone;
}

void LiveWatch::fired(const rules::CheckResult& result) {
  // The trace then says where each rank stands still.
  if (result.rule == "hang")
    takeStacks();
  const std::string what = fmt::format("{}: {}", result.entity, result.outcome.message);
  options_.note(severityOf(result.severity), "rule " + result.rule, what);
  options_.say(fmt::format("{} {} fired: {}", wordOf(result.severity), result.rule, what));
  if (result.severity != rules::Severity::Error)
    return;
  for (const auto& reaction : reactions_)
    reaction->add(rules::renderJson(result));
  if (options_.onFire.captureNs > 0)
    options_.recordFully(options_.onFire.captureNs);
  if (!options_.onFire.stop || stop_.isRequested())
    return;
  const std::string why = fmt::format("the rule {} stopped the job: {}", result.rule, what);
  options_.note(model::Severity::Error, "recorder", why);
  options_.say(fmt::format("stopping the job, because the rule {} fired", result.rule));
  stop_.request();
  if (job_)
    job_->stopOthers(why);
}

// A rule has a finding for each rank that the others wait for.
void LiveWatch::takeStacks() {
  constexpr std::chrono::seconds kAtOnce{5};
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  if (now - stacksTaken_.exchange(now) > kAtOnce)
    options_.takeStacks();
}

void LiveWatch::stoppedBy(const std::string& why) {
  if (stop_.isRequested())
    return;
  takeStacks();
  options_.note(model::Severity::Error, "recorder", why);
  options_.say("stopping this rank, because another recorder says: " + why);
  stop_.request();
}

}  // namespace sonde::recorder
