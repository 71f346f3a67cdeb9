#include "cli/report/report_facts.h"

#include "cli/text/table.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <map>
#include <utility>

namespace sonde::cli {
namespace {

namespace metrics = engine::metrics;

constexpr std::size_t kMetadataRows = 3;

std::string dateText(std::int64_t ns) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC",
                     fmt::gmtime(static_cast<std::time_t>(ns / 1'000'000'000)));
}

// "seed: 1, 2": each key once, with the values of all processes.
Lines metadataLines(const metrics::RunFacts& facts, std::size_t limit) {
  std::map<std::string, std::vector<std::string>> byKey;
  for (const metrics::Metadata& each : facts.metadata) {
    std::vector<std::string>& values = byKey[each.key];
    if (std::find(values.begin(), values.end(), each.value) == values.end())
      values.push_back(each.value);
  }
  std::string text;
  for (const auto& [key, values] : byKey)
    text += fmt::format("{}{}: {}", text.empty() ? "" : " · ", key, fmt::join(values, ", "));
  Lines lines;
  appendWrapped(lines, oneLine(std::move(text)), 0);
  if (lines.size() > limit) {
    lines.resize(limit - 1);
    appendLines(lines, "… more: --full");
  }
  return lines;
}

// Below the losses, which warnings explain. A warning may also stand for losses that could not be
// counted.
void appendWarnings(Lines& lines, const std::vector<metrics::Warning>& warnings, bool full) {
  constexpr std::size_t kMost = 3;
  for (std::size_t i = 0; i < warnings.size() && (full || i < kMost); ++i) {
    std::string text = warnings[i].text;
    if (warnings[i].atNs)
      text = fmt::format("+{}: {}", humanDuration(*warnings[i].atNs), text);
    appendWrapped(lines, text, kLabelWidth);
  }
  if (!full && warnings.size() > kMost)
    appendLines(lines, fmt::format("           … {} more: --full", warnings.size() - kMost));
}

std::string recordingText(const metrics::RunFacts& facts) {
  std::string cost = "unknown";
  if (facts.recorderCpuSeconds)
    cost = fmt::format("{:.2f} s of CPU", *facts.recorderCpuSeconds);
  if (facts.recorderRssBytes)
    cost += fmt::format(", {} of memory", humanBytes(*facts.recorderRssBytes));
  cost += ", " + counted(facts.events, "row", "rows");
  if (facts.recorderBytes)
    cost += fmt::format(" in {}", humanBytes(*facts.recorderBytes));
  return cost;
}

}  // namespace

Lines headLines(const metrics::RunFacts& facts, bool full) {
  Lines lines;
  appendLines(lines, facts.command.empty() ? "(command unknown)" : oneLine(facts.command));
  appendLines(lines,
              fmt::format("{}{}{}, {} · {} · {}{}",
                          facts.job.empty() ? "" : fmt::format("job {} · ", facts.job),
                          facts.ranks > 0 ? counted(facts.ranks, "rank", "ranks") + ", " : "",
                          counted(facts.processes, "process", "processes"),
                          counted(facts.hosts, "host", "hosts"),
                          dateText(facts.originNs),
                          humanDuration(facts.wallNs),
                          facts.finished ? "" : " · unfinished recording"));
  if (!facts.replayed.empty())
    appendLines(lines, fmt::format("times are those of a replay ({})", facts.replayed));
  const Lines metadata =
      metadataLines(facts, full ? std::numeric_limits<std::size_t>::max() : kMetadataRows);
  lines.insert(lines.end(), metadata.begin(), metadata.end());
  return lines;
}

Lines footLines(const metrics::RunFacts& facts, bool full) {
  Lines lines;
  std::int64_t lost = 0;
  std::map<std::string, std::int64_t> reasons;
  for (const metrics::LostRecords& each : facts.lost) {
    lost += each.reason == "names" ? 0 : each.count;
    reasons[each.reason] += each.count;
  }
  std::string dropped = lost == 0 ? "nothing" : counted(lost, "record", "records");
  if (!facts.warnings.empty())
    dropped = lost == 0 ? "nothing that was counted" : dropped;
  for (const auto& [reason, count] : reasons)
    dropped += fmt::format(" · {}: {}", reason, humanCount(count));
  appendLabelled(lines, "Dropped", dropped);
  if (full)
    for (const metrics::LostRecords& each : facts.lost)
      appendLines(lines,
                  fmt::format("           {} {} ({}): {}",
                              each.probe,
                              each.kind,
                              each.reason,
                              humanCount(each.count)));
  appendWarnings(lines, facts.warnings, full);
  appendLabelled(lines, "Recording", recordingText(facts));
  return lines;
}

}  // namespace sonde::cli
