// The job's use of its machines: devices, communication, files, memory, energy.
#include "cli/html/html_sections.h"
#include "cli/html/html_table.h"
#include "cli/html/plots.h"
#include "cli/report/report_devices.h"
#include "cli/report/report_usage_tables.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::cli {
namespace {

namespace device = engine::device;
namespace metrics = engine::metrics;

constexpr std::size_t kMemoryPlots = 8;

Table deviceTableOf(const std::vector<DeviceTable>& tables,
                    const std::string& key,
                    const HtmlValues& values) {
  const auto found = std::find_if(
      tables.begin(), tables.end(), [&](const DeviceTable& each) { return each.key == key; });
  return found == tables.end() ? Table{} : found->make(values.report);
}
Table usageOf(const std::string& key, const HtmlValues& values) {
  const auto& tables = usageTables();
  const auto found = std::find_if(
      tables.begin(), tables.end(), [&](const UsageTable& each) { return each.key == key; });
  return found == tables.end() ? Table{}
                               : found->make(values.report.usage, values.report.facts.originNs);
}

void addTitled(Page& page, const char* title, const Table& table, std::size_t limit) {
  if (table.rows.empty())
    return;
  page.element("h3", title);
  addTable(page, table, limit);
}

// The table of one device, the first one: the others of a job mostly do the same.
Table ofFirstDevice(Table table) {
  if (table.rows.empty() || table.columns.size() < 2)
    return table;
  const auto deviceOf = [](const std::vector<Cell>& row) {
    return humanCell(row[0], ColumnKind::Number) + " " + humanCell(row[1], ColumnKind::Text);
  };
  const std::string first = deviceOf(table.rows.front());
  std::erase_if(table.rows, [&](const auto& row) { return deviceOf(row) != first; });
  return table;
}

// The first device of the job with work, by its rank and name.
std::string firstDevice(const HtmlValues& values) {
  for (std::size_t at = 0; at < values.report.devices.ranks.size(); ++at)
    if (const auto& devices = values.report.devices.ranks[at].devices; !devices.empty())
      return fmt::format("{}, {}", values.report.ranks[at].process.name, devices.front().name);
  return "";
}

StackedBars busyBars(const HtmlValues& values) {
  StackedBars bars{{"computing", "exposed communication", "exposed copies", "idle"},
                   ColumnKind::DurationNs,
                   {},
                   true};
  for (std::size_t at = 0; at < values.report.devices.ranks.size(); ++at)
    for (const device::DeviceSummary& each : values.report.devices.ranks[at].devices)
      bars.bars.push_back({fmt::format("{}, {}", values.report.ranks[at].process.name, each.name),
                           {each.time.computeNs(),
                            each.time.exposedCommNs(),
                            each.time.exposedCopyNs(),
                            each.time.idleNs()}});
  return bars;
}

StackedBars idleBars(const HtmlValues& values) {
  StackedBars bars{{}, ColumnKind::DurationNs, {}, true};
  for (std::size_t cause = 0; cause < device::kIdleCauses; ++cause) {
    std::string& name =
        bars.series.emplace_back(device::word(static_cast<device::IdleCause>(cause)));
    std::replace(name.begin(), name.end(), '_', ' ');
  }
  for (std::size_t at = 0; at < values.report.devices.ranks.size(); ++at)
    for (const device::DeviceSummary& each : values.report.devices.ranks[at].devices)
      for (const device::StreamSummary& stream : each.streams)
        bars.bars.push_back(
            {fmt::format("{}, stream {}", values.report.ranks[at].process.name, stream.number),
             {stream.idle.causeNs.begin(), stream.idle.causeNs.end()}});
  return bars;
}

LinePlot memoryPlot(const metrics::MemoryUse& use, std::int64_t originNs) {
  LinePlot plot;
  plot.title = fmt::format("Memory of {} on {}", use.process, use.place);
  plot.xTitle = "time since the begin";
  plot.xKind = ColumnKind::DurationNs;
  plot.yKind = ColumnKind::Bytes;
  plot.isSmall = true;
  LinePlot::Series& series = plot.series.emplace_back();
  series.name = plot.title;
  // A level lasts until the next one.
  for (const metrics::MemoryLevel& level : use.series) {
    if (!series.points.empty())
      series.points.push_back({static_cast<double>(level.ns - originNs), series.points.back().y});
    series.points.push_back(
        {static_cast<double>(level.ns - originNs), static_cast<double>(level.bytes)});
  }
  return plot;
}

}  // namespace

bool addDevices(Page& page, const HtmlValues& values) {
  const StackedBars busy = busyBars(values);
  if (busy.bars.empty())
    return false;
  beginSection(page, "devices", "Devices");
  page.element("h3", "What devices did");
  addBars(page, busy, kHtmlRanks);
  page.element("h3", "Why streams were idle");
  addBars(page, idleBars(values), kHtmlRanks);
  addTitled(page,
            "Devices and their hosts",
            columnsOf(usageOf("bound", values),
                      {"rank",
                       "device",
                       "window_ns",
                       "kernel_ns",
                       "busy_ns",
                       "busy",
                       "sampled_busy",
                       "filled_at_most",
                       "bound_ns",
                       "overlap_ns",
                       "host_ns",
                       "useless_ns"}),
            kHtmlRanks);
  page.element("h3", fmt::format("Kernels of {}", firstDevice(values)));
  addTable(page,
           columnsOf(ofFirstDevice(deviceTableOf(deviceTables(), "kernels", values)),
                     {"name", "kind", "count", "ns", "p50_ns", "p95_ns", "max_ns", "share"}),
           kHtmlRows);
  addTitled(
      page,
      "Copies",
      columnsOf(
          deviceTableOf(deviceTables(), "copies", values),
          {"rank", "device", "kind", "memory", "count", "ns", "share", "bytes", "bytes_per_s"}),
      kHtmlRows);
  page.end();
  return true;
}

bool addCommunication(Page& page, const HtmlValues& values) {
  const Table collectives = deviceTableOf(costTables(), "collectives", values);
  const engine::report::PathReport& path = values.report.path;
  if (collectives.rows.empty() && !path.straggler)
    return false;
  beginSection(page, "communication", "Communication and slow ranks");
  if (path.straggler)
    page.element(
        "p",
        fmt::format("Rank {} makes the job slower by {:.1f} % of an iteration, most in {}.",
                    path.straggler->rank,
                    100 * path.straggler->share,
                    path.straggler->operation.empty()
                        ? engine::critical::nameOf(path.straggler->cause)
                        : path.straggler->operation));
  else if (!path.whyNoStraggler.empty())
    page.element("p",
                 fmt::format("No slow rank can be named: {}.", path.whyNoStraggler),
                 {{"class", "note"}});
  addTitled(page,
            "Collectives",
            columnsOf(collectives,
                      {"op",
                       "ranks",
                       "bytes",
                       "count",
                       "ns",
                       "p50_ns",
                       "p95_ns",
                       "share",
                       "wait_ns",
                       "transfer_ns",
                       "bus_bytes_per_s"}),
            kHtmlRows);
  addTitled(page,
            "Who is late to collectives, in a median iteration",
            deviceTableOf(costTables(), "lags", values),
            kHtmlRanks);
  page.end();
  return true;
}

bool addStalls(Page& page, const HtmlValues& values) {
  const Table stalls = usageOf("stalls", values);
  const Table files = usageOf("file_calls", values);
  if (stalls.rows.empty() && files.rows.empty())
    return false;
  beginSection(page, "stalls", "Loaders, checkpoints and files");
  addTitled(page,
            "Iterations held up",
            columnsOf(stalls,
                      {"rank",
                       "cause",
                       "count",
                       "above",
                       "iterations",
                       "ns",
                       "p50_ns",
                       "p95_ns",
                       "max_ns",
                       "share",
                       "device_idle_ns",
                       "trend"}),
            kHtmlRanks);
  addTitled(page, "Calls on files", files, kHtmlRows);
  page.end();
  return true;
}

bool addMemory(Page& page, const HtmlValues& values) {
  const std::vector<metrics::MemoryUse>& uses = values.report.usage.memory;
  if (uses.empty())
    return false;
  beginSection(page, "memory", "Memory");
  page.begin("div", {{"class", "small"}});
  for (std::size_t at = 0; at < std::min(uses.size(), kMemoryPlots); ++at) {
    page.begin("div").element(
        "h3", fmt::format("{}, {} ({})", uses[at].process, uses[at].place, uses[at].allocator));
    addPlot(page, memoryPlot(uses[at], values.report.facts.originNs));
    page.end();
  }
  page.end();
  if (uses.size() > kMemoryPlots)
    page.element("p",
                 fmt::format("{} more are not drawn.", uses.size() - kMemoryPlots),
                 {{"class", "note"}});
  addTable(page,
           columnsOf(usageOf("memory", values),
                     {"process",
                      "place",
                      "allocator",
                      "blocks",
                      "base_bytes",
                      "peak_bytes",
                      "peak_ns",
                      "peak_iteration",
                      "end_bytes",
                      "sampled_peak_bytes"}),
           kHtmlRanks);
  addTitled(
      page,
      "At its peak, by who had allocated it",
      columnsOf(
          usageOf("memory_holders", values),
          {"process", "place", "operation_kind", "operation", "scope", "blocks", "bytes", "share"}),
      kHtmlRows);
  page.end();
  return true;
}

bool addEnergy(Page& page, const HtmlValues& values) {
  const Table energy = usageOf("energy", values);
  if (energy.rows.empty())
    return false;
  beginSection(page, "energy", "Energy");
  addTable(page, energy, kHtmlRows);
  addTitled(page, "By operation", usageOf("energy_operations", values), kHtmlRows);
  page.end();
  return true;
}

}  // namespace sonde::cli
