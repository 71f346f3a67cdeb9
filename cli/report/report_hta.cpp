#include "cli/report/report_hta.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace hta = engine::hta;
using nlohmann::json;
using Row = std::vector<Cell>;

constexpr std::int64_t kNs = 1000;  // in a microsecond

double shareOf(std::int64_t part, std::int64_t all) {
  return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

Table typeTable(const HtaReport& report) {
  Table table{{{"kernel_type", "kernel type"},
               {"ns", "sum", ColumnKind::DurationNs},
               {"share", "share", ColumnKind::Fraction}},
              {}};
  for (const hta::TypeTime& each : report.types)
    table.rows.push_back({each.types, each.sum * kNs, each.share});
  return table;
}

Table kernelTable(const HtaReport& report) {
  Table table{{rankColumn(),
               {"kernel_type", "type"},
               {"name", "kernel"},
               {"ns", "sum", ColumnKind::DurationNs},
               {"max_ns", "max", ColumnKind::DurationNs},
               {"min_ns", "min", ColumnKind::DurationNs},
               {"mean_us", "mean µs", ColumnKind::Real},
               {"stddev_us", "stddev µs", ColumnKind::Real}},
              {}};
  for (const HtaRank& rank : report.ranks)
    for (const hta::KernelTime& kernel : rank.kernels)
      table.rows.push_back({orNone(rank.rank),
                            std::string(hta::word(kernel.type)),
                            kernel.name,
                            kernel.sum * kNs,
                            kernel.max * kNs,
                            kernel.min * kNs,
                            kernel.mean,
                            kernel.deviation});
  return table;
}

Table idleTable(const HtaReport& report) {
  Table table{{rankColumn(),
               {"stream", "stream", ColumnKind::Number},
               {"host_wait_ns", "host wait", ColumnKind::DurationNs},
               {"kernel_wait_ns", "kernel wait", ColumnKind::DurationNs},
               {"other_ns", "other", ColumnKind::DurationNs}},
              {}};
  for (const HtaRank& rank : report.ranks)
    for (const hta::StreamIdle& idle : rank.idle)
      table.rows.push_back({orNone(rank.rank),
                            idle.stream,
                            idle.hostWait * kNs,
                            idle.kernelWait * kNs,
                            idle.other * kNs});
  return table;
}

void addDescription(Table& table) {
  const std::pair<const char*, const char*> kColumns[] = {{"mean", "mean"},
                                                          {"std", "std"},
                                                          {"min", "min"},
                                                          {"p25", "25%"},
                                                          {"p50", "50%"},
                                                          {"p75", "75%"},
                                                          {"max", "max"}};
  table.columns.push_back({"count", "count", ColumnKind::Integer});
  for (const auto& [key, title] : kColumns)
    table.columns.push_back({key, title, ColumnKind::Real});
}

Row described(Row row, const hta::Description& all) {
  const Row cells = {
      all.count, all.mean, orNone(all.deviation), all.min, all.p25, all.p50, all.p75, all.max};
  row.insert(row.end(), cells.begin(), cells.end());
  return row;
}

Table queueTable(const HtaReport& report) {
  Table table{{rankColumn(), {"stream", "stream", ColumnKind::Number}}, {}};
  addDescription(table);
  table.columns.push_back({"full_ns", "full", ColumnKind::DurationNs});
  for (const HtaRank& rank : report.ranks)
    for (const hta::StreamQueue& queue : rank.queues) {
      Row row = described({orNone(rank.rank), queue.stream}, queue.length);
      row.emplace_back(queue.fullUs * kNs);
      table.rows.push_back(std::move(row));
    }
  return table;
}

Table bandwidthTable(const HtaReport& report) {
  Table table{{rankColumn(), {"name", "GB/s of"}}, {}};
  addDescription(table);
  for (const HtaRank& rank : report.ranks)
    for (const hta::MemoryBandwidth& each : rank.bandwidth)
      table.rows.push_back(described({orNone(rank.rank), each.name}, each.gigabytesPerSecond));
  return table;
}

Table launchTable(const HtaReport& report) {
  Table table{{rankColumn(),
               {"count", "launches", ColumnKind::Integer},
               {"cpu_ns", "cpu", ColumnKind::DurationNs},
               {"gpu_ns", "gpu", ColumnKind::DurationNs},
               {"delay_ns", "delay", ColumnKind::DurationNs},
               {"short", "gpu < cpu", ColumnKind::Integer},
               {"runtime_above_50us", "cpu >50 µs", ColumnKind::Integer},
               {"delay_above_100us", "delay >100 µs", ColumnKind::Integer}},
              {}};
  for (const HtaRank& rank : report.ranks) {
    const hta::LaunchCounts& counts = rank.launches;
    table.rows.push_back({orNone(rank.rank),
                          counts.count,
                          counts.callUs * kNs,
                          counts.eventUs * kNs,
                          counts.delayUs * kNs,
                          counts.shorter,
                          counts.slowCalls,
                          counts.late});
  }
  return table;
}

struct Section {
  const char* key;
  const char* heading;
  Table (*make)(const HtaReport& report);
};
constexpr Section kSections[] = {
    {"temporal", "Temporal breakdown and overlap", htaTable},
    {"kernel_types", "Kernel types, over all ranks", typeTable},
    {"kernels", "Kernels", kernelTable},
    {"idle", "Idle time of streams", idleTable},
    {"queues", "Queue length", queueTable},
    {"memory_bandwidth", "Memory bandwidth", bandwidthTable},
    {"launches", "Launches", launchTable},
};

// "0-99, 200"; of many stretches only the first ones.
std::string listOf(std::vector<std::int64_t> numbers) {
  constexpr int kStretches = 8;
  std::sort(numbers.begin(), numbers.end());
  std::string text;
  int stretches = 0;
  for (std::size_t first = 0, next = 0; first < numbers.size(); first = next) {
    for (next = first + 1; next < numbers.size() && numbers[next] == numbers[next - 1] + 1;)
      ++next;
    if (++stretches > kStretches)
      return fmt::format("{}, … ({} in all)", text, numbers.size());
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[first]);
    if (next - first > 1)
      text += fmt::format("-{}", numbers[next - 1]);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

Table htaTable(const HtaReport& report) {
  Table table{{rankColumn(),
               {"kernel_time_ns", "kernel time", ColumnKind::DurationNs},
               {"idle_ns", "idle", ColumnKind::DurationNs},
               {"compute_ns", "compute", ColumnKind::DurationNs},
               {"non_compute_ns", "non-compute", ColumnKind::DurationNs},
               {"idle_share", "idle", ColumnKind::Fraction},
               {"compute_share", "compute", ColumnKind::Fraction},
               {"non_compute_share", "non-compute", ColumnKind::Fraction},
               {"comm_overlap", "overlap", ColumnKind::Fraction}},
              {}};
  for (const HtaRank& rank : report.ranks) {
    const hta::Temporal& time = rank.temporal;
    table.rows.push_back({orNone(rank.rank),
                          time.kernelTime * kNs,
                          time.idle * kNs,
                          time.compute * kNs,
                          time.nonCompute() * kNs,
                          shareOf(time.idle, time.kernelTime),
                          shareOf(time.compute, time.kernelTime),
                          shareOf(time.nonCompute(), time.kernelTime),
                          orNone(rank.overlap)});
  }
  return table;
}

std::string renderHta(const HtaReport& report) {
  std::string text = fmt::format(
      "By the definitions of HolisticTraceAnalysis: whole microseconds, without the last of "
      "several "
      "steps.\nSteps: {}. Potential stragglers: {}.\n",
      listOf(report.steps),
      listOf(report.stragglers));
  if (report.ranks.empty())
    return text + "No device did anything.\n";
  for (const Section& section : kSections) {
    Table table = section.make(report);
    if (table.rows.empty())
      continue;
    constexpr int kNameWidth = 60;
    for (Row& row : table.rows)
      for (Cell& cell : row)
        if (auto* name = std::get_if<std::string>(&cell))
          *name = cutInside(*name, kNameWidth);
    text += fmt::format("\n{}\n{}", section.heading, renderText(table, 2));
  }
  return text;
}

void addHtaJson(json& document, const HtaReport& report) {
  std::map<json, json> devices;
  for (const json& rank : document["ranks"])
    devices[rank["rank"]] = rank["device"];
  json ranks = json::array();
  for (const HtaRank& rank : report.ranks) {
    const hta::Temporal& time = rank.temporal;
    const json number = cellAsJson(orNone(rank.rank));
    ranks.push_back({{"rank", number},
                     {"device", devices[number]},
                     {"window_ns", time.kernelTime * kNs},
                     {"compute_ns", time.compute * kNs},
                     {"non_compute_ns", time.nonCompute() * kNs},
                     {"copy_ns", time.memory * kNs},
                     {"comm_ns", time.communication * kNs},
                     {"idle_ns", time.idle * kNs},
                     {"comm_overlap", cellAsJson(orNone(rank.overlap))}});
  }
  json tables = {{"steps", report.steps}, {"stragglers", report.stragglers}};
  for (const Section& section : kSections)
    tables[section.key] = rowsAsObjects(section.make(report));
  document["compat"] = "hta";
  document["ranks"] = std::move(ranks);
  document["hta"] = std::move(tables);
}

}  // namespace sonde::cli
