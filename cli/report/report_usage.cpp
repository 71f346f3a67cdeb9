#include "cli/report/report_usage.h"

#include "analysis/engine/statistics/change_points.h"
#include "cli/report/report_devices.h"
#include "cli/report/report_usage_tables.h"
#include "cli/text/json_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace metrics = engine::metrics;
namespace device = engine::device;
using engine::changes::IterationChange;
using engine::changes::Moved;
using engine::changes::RankChanges;
using engine::energy::EnergyUse;
using nlohmann::json;

// The peak and its holders; unknown holders come last.
std::string memoryText(const metrics::MemoryUse& use) {
  std::string text = fmt::format(
      "{}, {} ({}): peak {}", use.process, use.place, use.allocator, humanBytes(use.peak.bytes));
  if (use.peakIteration)
    text += fmt::format(", in iteration {}", *use.peakIteration);
  for (const metrics::MemoryHolder& holder : use.holders) {
    if (holder.scope.empty() || use.peak.bytes <= 0)
      continue;
    text += fmt::format(
        "; {} of it by {}",
        humanFraction(static_cast<double>(holder.bytes) / static_cast<double>(use.peak.bytes)),
        holder.operation.empty() ? holder.scope : holder.operation);
    break;
  }
  return text;
}

// One or two lines: the greatest peak of a device, else of the host.
void addMemory(Lines& lines, const UsageReport& usage) {
  const auto greater = [](const metrics::MemoryUse& a, const metrics::MemoryUse& b) {
    return std::pair(a.place != "host", a.peak.bytes) < std::pair(b.place != "host", b.peak.bytes);
  };
  const auto most = std::max_element(usage.memory.begin(), usage.memory.end(), greater);
  if (most != usage.memory.end())
    appendLabelled(lines, "Memory", memoryText(*most));
}

// One or two lines: the largest cause of stalls in any rank's iterations.
void addStalls(Lines& lines, const UsageReport& usage) {
  const metrics::RankStalls* rank = nullptr;
  const metrics::StallTime* worst = nullptr;
  for (const metrics::RankStalls& each : usage.stalls)
    for (const metrics::StallTime& time : each.causes)
      if (time.above > 0 && (worst == nullptr || time.share > worst->share)) {
        rank = &each;
        worst = &time;
      }
  if (worst == nullptr)
    return;
  std::string text = fmt::format("{}: {} {} of iterations ({} × ≥ {}",
                                 rank->process,
                                 metrics::kStallCauseNames[static_cast<std::size_t>(worst->cause)],
                                 humanFraction(worst->share),
                                 humanCount(worst->above),
                                 humanDuration(rank->thresholdNs));
  if (worst->trend == metrics::Trend::Grows)
    text += ", growing";
  if (worst->deviceIdleNs)
    text += fmt::format("; devices idle {}", humanDuration(*worst->deviceIdleNs));
  text += ")";
  appendLabelled(lines, "Stalls", text);
}

std::string movedText(const Moved& moved) {
  constexpr int kNameWidth = 34;
  return fmt::format("{} {} {}{}",
                     engine::diff::word(moved.kind),
                     cutInside(moved.name, kNameWidth),
                     moved.byNs() > 0 ? "+" : "−",
                     humanDuration(std::abs(moved.byNs())));
}

std::string changeText(const IterationChange& change) {
  const double by = static_cast<double>(change.afterNs - change.beforeNs) /
                    static_cast<double>(std::max<std::int64_t>(change.beforeNs, 1));
  std::string text = fmt::format("{} {} from iteration {} on ({} to {})",
                                 humanFraction(std::abs(by)),
                                 by > 0 ? "longer" : "shorter",
                                 change.number,
                                 humanDuration(change.beforeNs),
                                 humanDuration(change.afterNs));
  for (const auto* moved : {&change.operations, &change.categories})
    if (!moved->empty())
      text += (moved == &change.operations ? ": " : ", ") + movedText(moved->front());
  return text;
}

// One or two lines: the greatest change of any rank.
void addChanges(Lines& lines, const UsageReport& usage) {
  const RankChanges* rank = nullptr;
  const IterationChange* most = nullptr;
  const auto size = [](const IterationChange& change) {
    return std::abs(change.afterNs - change.beforeNs);
  };
  std::size_t all = 0;
  for (const RankChanges& each : usage.changes)
    for (const IterationChange& change : each.changes) {
      ++all;
      if (most != nullptr && size(change) <= size(*most))
        continue;
      rank = &each;
      most = &change;
    }
  if (most != nullptr)
    appendLabelled(lines,
                   "Changes",
                   fmt::format("{}: {}{}",
                               rank->process,
                               changeText(*most),
                               all > 1 ? fmt::format("; {} more: --full", all - 1) : ""));
}

// One or two lines: the device with the most energy, else the machine's meter with the most, since
// others may be parts of it.
void addEnergy(Lines& lines, const UsageReport& usage) {
  if (usage.energy.empty())
    return;
  const auto less = [](const EnergyUse& a, const EnergyUse& b) {
    return std::pair(a.isDevice, a.energy.joules) < std::pair(b.isDevice, b.energy.joules);
  };
  const EnergyUse& use = *std::max_element(usage.energy.begin(), usage.energy.end(), less);
  std::string text = fmt::format("{} ({}): {:.4g} J", use.place, use.meter, use.energy.joules);
  if (use.watts)
    text += fmt::format(", {:.4g} W", *use.watts);
  if (use.joulesPerIteration)
    text += fmt::format(", {:.4g} J an iteration", *use.joulesPerIteration);
  if (use.energy.joules > 0)
    text +=
        fmt::format(", {} of it idle", humanFraction(use.energy.idle.joules / use.energy.joules));
  if (usage.energy.size() > 1)
    text += fmt::format("; {} more: --full", usage.energy.size() - 1);
  appendLabelled(lines, "Energy", text);
}

// One or two lines: the device that the host kept waiting longest.
void addBound(Lines& lines, const UsageReport& usage) {
  const RankBound* rank = nullptr;
  const device::BoundTime* worst = nullptr;
  for (const RankBound& each : usage.bound)
    for (const device::BoundTime& time : each.devices)
      if (worst == nullptr || time.hostNs > worst->hostNs) {
        rank = &each;
        worst = &time;
      }
  if (worst == nullptr || worst->windowNs <= 0)
    return;
  const auto share = [&](std::int64_t ns) {
    return humanFraction(static_cast<double>(ns) / static_cast<double>(worst->windowNs));
  };
  std::string text =
      fmt::format("{}, {}: kernels run {}", rank->process, worst->device, share(worst->kernelNs));
  if (worst->sampledBusy)
    text += fmt::format(" (sampler: {})", humanFraction(*worst->sampledBusy));
  if (worst->hostKnown)
    text +=
        fmt::format("; GPU-bound {}, host-bound {}", share(worst->boundNs), share(worst->hostNs));
  appendLabelled(lines, "Bound", text);
}

json levelsJson(const std::vector<metrics::MemoryLevel>& levels, std::int64_t originNs) {
  json rows = json::array();
  for (const metrics::MemoryLevel& level : levels)
    rows.push_back({{"at_ns", level.ns - originNs}, {"bytes", level.bytes}});
  return rows;
}

json movedJson(const std::vector<Moved>& moved) {
  json rows = json::array();
  for (const Moved& each : moved)
    rows.push_back({{"kind", engine::diff::word(each.kind)},
                    {"name", each.name},
                    {"before_ns", each.beforeNs},
                    {"after_ns", each.afterNs}});
  return rows;
}

json worstJson(const std::vector<metrics::IterationStall>& worst) {
  json rows = json::array();
  for (const metrics::IterationStall& each : worst)
    rows.push_back({{"number", each.number}, {"ns", each.ns}});
  return rows;
}

// Lists that do not fit into tables, in row order.
void addLists(json& document, const UsageReport& usage, std::int64_t originNs) {
  for (std::size_t at = 0; at < usage.memory.size(); ++at)
    document["memory"][at]["series"] = levelsJson(usage.memory[at].series, originNs);
  std::size_t row = 0;
  for (const metrics::RankStalls& rank : usage.stalls)
    for (const metrics::StallTime& each : rank.causes)
      document["stalls"][row++]["worst"] = worstJson(each.worst);
  row = 0;
  for (const RankChanges& rank : usage.changes)
    for (const IterationChange& each : rank.changes) {
      json& object = document["changes"][row++];
      object.erase("moved");
      object["operations"] = movedJson(each.operations);
      object["categories"] = movedJson(each.categories);
    }
}

// Adds a verdict for each place in which changes were looked for.
void appendVerdicts(Lines& lines, const UsageReport& usage) {
  for (const RankChanges& rank : usage.changes) {
    if (!rank.changes.empty())
      continue;
    lines.push_back(rank.isEnough ? fmt::format("  {}: none in {}",
                                                rank.process,
                                                counted(rank.iterations, "iteration", "iterations"))
                                  : fmt::format("  {}: unknown: {}, at least {} needed",
                                                rank.process,
                                                counted(rank.iterations, "iteration", "iterations"),
                                                engine::statistics::kLeastForChange));
  }
}

}  // namespace

Lines usageLines(const UsageReport& usage, std::size_t limit) {
  Lines lines;
  std::size_t subjects = 0;
  for (const auto& add : {addBound, addStalls, addChanges, addMemory, addEnergy}) {
    Lines subject;
    add(subject, usage);
    if (subject.empty())
      continue;
    if (++subjects <= limit)
      lines.insert(lines.end(), subject.begin(), subject.end());
  }
  if (subjects > limit)
    appendLines(lines, fmt::format("           … {} more: --full", subjects - limit));
  if (!lines.empty())
    lines.insert(lines.begin(), "");
  return lines;
}

Lines usageSections(const UsageReport& usage, std::int64_t originNs) {
  Lines lines;
  for (const UsageTable& each : usageTables()) {
    Table table = each.make(usage, originNs);
    const bool isEmpty = table.rows.empty();
    const bool isChanges = std::string_view(each.key) == "changes" && !usage.changes.empty();
    if (isEmpty && (isChanges || each.missing != nullptr)) {
      lines.emplace_back();
      lines.emplace_back(isChanges ? each.heading : each.missing);
    }
    appendSection(lines, each.heading, std::move(table));
    if (isChanges)
      appendVerdicts(lines, usage);
  }
  return lines;
}

void addUsageJson(json& document, const UsageReport& usage, std::int64_t originNs) {
  for (const UsageTable& each : usageTables())
    document[each.key] = rowsAsObjects(each.make(usage, originNs));
  addLists(document, usage, originNs);
  json& looked = document["changes_in"] = json::array();
  for (const RankChanges& rank : usage.changes)
    looked.push_back({{"rank", orNull(rank.rank)},
                      {"iterations", rank.iterations},
                      {"left_out", rank.leftOut},
                      {"verdict",
                       !rank.isEnough         ? "insufficient"
                       : rank.changes.empty() ? "none"
                                              : "changes"}});
}

}  // namespace sonde::cli
