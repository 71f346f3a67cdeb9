#include "rules/builtin/device/device_judge.h"
#include "rules/builtin/device/device_rules.h"

#include <fmt/format.h>

namespace sonde::rules {
namespace {

Outcome judgeSynchronousCopies(const DeviceSubject& subject, const Parameters& parameters) {
  Outcome outcome = outcomeOf(subject);
  double share = 0;
  std::int64_t calls = 0;
  for (const auto& row : subject.ofRank.costs.waiting)
    if (row.call.find("emcpy") != std::string::npos) {
      share += row.share;
      calls += row.ns.count;
    }
  decide(outcome, share, parameters.real("max_share"));
  outcome.samples = calls;
  outcome.evidence["calls"] = calls;
  outcome.message =
      calls == 0
          ? "all copies are asynchronous"
          : fmt::format("{} copies hold the host up for {:.1f} % of the time", calls, 100 * share);
  return outcome;
}

Outcome judgePageableCopies(const DeviceSubject& subject, const Parameters& parameters) {
  Outcome outcome = outcomeOf(subject);
  std::int64_t ns = 0;
  std::int64_t bytes = 0;
  std::int64_t copies = 0;
  std::int64_t known = 0;
  for (const auto& row : subject.device.copies) {
    if (row.kind != "host_to_device" && row.kind != "device_to_host")
      continue;
    outcome.samples += row.ns.count;
    known += row.pinned ? row.ns.count : 0;
    if (row.pinned.value_or(true))
      continue;
    ns += row.ns.total;
    bytes += row.bytes;
    copies += row.ns.count;
  }
  if (known == 0 && !subject.device.copies.empty()) {
    outcome.message = "the trace does not say which copies use page-locked memory";
    return outcome;
  }
  decide(outcome, subject.shareOf(ns), parameters.real("max_share"));
  outcome.evidence["copies"] = copies;
  outcome.evidence["bytes"] = bytes;
  outcome.evidence["ns"] = ns;
  outcome.message = copies == 0
                        ? "no copy uses pageable memory"
                        : fmt::format(
                              "{} copies of {:.1f} MB from or to pageable memory take {:.1f} % of "
                              "the time",
                              copies,
                              static_cast<double>(bytes) / 1e6,
                              100 * subject.shareOf(ns));
  return outcome;
}

}  // namespace

RuleInfo synchronousCopies() {
  RuleInfo info;
  info.name = "synchronous-copies";
  info.profile = Profile::Performance;
  info.summary = "copies that hold the host up take much of the time";
  info.details =
      "Fires if calls of cudaMemcpy and its like without Async take more than `max_share` "
      "of the time.";
  info.needs = "cuda";
  info.hint = "copy with non_blocking=True from pinned memory, and before the data is needed";
  info.next = {"sonde report TRACE"};
  info.parameters = {{"max_share", 0.02, "largest healthy share of the time", 0, 1}};
  info.judge = judgeEachDevice(judgeSynchronousCopies);
  return info;
}

RuleInfo pageableCopies() {
  RuleInfo info;
  info.name = "pageable-copies";
  info.profile = Profile::Performance;
  info.summary = "copies from or to pageable memory take much of the time";
  info.details =
      "The driver copies pageable memory to a buffer of its own first: such copies are slower, and "
      "an asynchronous one\n"
      "blocks its host. Fires if they take more than `max_share` of the time.";
  info.needs = "cuda";
  info.hint = "use pin_memory=True in the DataLoader, or tensor.pin_memory()";
  info.next = {"sonde report TRACE"};
  info.parameters = {{"max_share", 0.02, "largest healthy share of the time", 0, 1}};
  info.judge = judgeEachDevice(judgePageableCopies);
  return info;
}

}  // namespace sonde::rules
