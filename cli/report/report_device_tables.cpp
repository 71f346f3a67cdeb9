#include "cli/report/report_device_tables.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sonde::cli {
namespace {

namespace device = engine::device;
using device::DeviceSummary;
using device::DeviceTime;
using device::Spread;
using Row = std::vector<Cell>;

void append(std::vector<Column>& columns, std::vector<Column> more) {
  columns.insert(columns.end(), more.begin(), more.end());
}
void append(Row& row, const Row& more) {
  row.insert(row.end(), more.begin(), more.end());
}

Cell rankCell(const RankReport& rank) {
  return orNone(rank.process.rank);
}

// Calls `use` with each device and the cells that name its rank and device.
template <typename Use>
void eachDevice(const JobReport& report, Use use) {
  for (std::size_t at = 0; at < report.ranks.size() && at < report.devices.ranks.size(); ++at)
    for (const DeviceSummary& each : report.devices.ranks[at].devices)
      use(Row{rankCell(report.ranks[at]), each.name}, each);
}
std::vector<Column> placeColumns() {
  return {rankColumn(), textColumn("device", "device")};
}

std::vector<Column> timeColumns(const std::string& idle = "idle") {
  return {durationColumn("compute_ns", "compute"),
          durationColumn("exposed_comm_ns", "+exposed comm"),
          durationColumn("exposed_copy_ns", "+exposed copy"),
          {"idle_ns", "+" + idle, ColumnKind::DurationNs},
          durationColumn("comm_ns", "all comm"),
          durationColumn("copy_ns", "all copies"),
          shareColumn("comm_overlap", "hidden comm")};
}
Row timeCells(const DeviceTime& time) {
  const std::int64_t comm = time.commNs();
  const Cell overlap =
      comm > 0 ? Cell(static_cast<double>(time.hiddenCommNs()) / static_cast<double>(comm))
               : Cell();
  return {time.computeNs(),
          time.exposedCommNs(),
          time.exposedCopyNs(),
          time.idleNs(),
          comm,
          time.copyNs(),
          overlap};
}

Table deviceTable(const JobReport& report) {
  Table table{placeColumns(), {}};
  append(table.columns, {durationColumn("window_ns", "window")});
  append(table.columns, timeColumns());
  eachDevice(report, [&](Row row, const DeviceSummary& each) {
    row.emplace_back(each.time.windowNs);
    append(row, timeCells(each.time));
    table.rows.push_back(std::move(row));
  });
  return table;
}

// For ranks without devices: their own time, as the report has it for the window.
void addHostSteps(const RankReport& rank, Table& table) {
  for (std::size_t at = 0; at < rank.stepTimes.size(); ++at) {
    const engine::metrics::RankTime& time = rank.stepTimes[at];
    const auto known = [&](const Cell& cell) { return time.computeKnown ? cell : Cell(); };
    const Cell overlap =
        time.commNs > 0
            ? Cell(static_cast<double>(time.hiddenNs) / static_cast<double>(time.commNs))
            : Cell();
    table.rows.push_back({rankCell(rank),
                          time.device,
                          rank.process.iterations[at].number,
                          time.windowNs,
                          known(time.computeNs),
                          known(time.exposedNs),
                          known(time.exposedCopyNs),
                          known(time.idleNs),
                          time.commNs,
                          time.copyNs,
                          known(overlap)});
  }
}

Table stepTable(const JobReport& report) {
  Table table{placeColumns(), {}};
  append(table.columns, {{"number", "step", ColumnKind::Number}, durationColumn("ns", "time")});
  append(table.columns, timeColumns(idleTitle(report)));
  for (std::size_t at = 0; at < report.ranks.size() && at < report.devices.ranks.size(); ++at) {
    if (report.devices.ranks[at].devices.empty())
      addHostSteps(report.ranks[at], table);
    for (const DeviceSummary& each : report.devices.ranks[at].devices)
      for (const device::StepTime& step : each.steps) {
        Row row = {rankCell(report.ranks[at]), each.name, step.number, step.time.windowNs};
        append(row, timeCells(step.time));
        table.rows.push_back(std::move(row));
      }
  }
  return table;
}

Table setTable(const JobReport& report) {
  Table table{placeColumns(), {}};
  append(table.columns,
         {textColumn("active", "active at once"),
          durationColumn("ns", "time"),
          shareColumn("share", "share")});
  eachDevice(report, [&](const Row& place, const DeviceSummary& each) {
    for (std::size_t set = 0; set < device::kWorkSets; ++set) {
      if (each.time.setNs[set] == 0)
        continue;
      std::string names;
      for (std::size_t kind = 0; kind < device::kWorkKinds; ++kind)
        if ((set >> kind & 1U) != 0)
          names.append(names.empty() ? "" : " + ")
              .append(device::word(static_cast<device::WorkKind>(kind)));
      Row row = place;
      append(row,
             {names.empty() ? "idle" : names,
              each.time.setNs[set],
              static_cast<double>(each.time.setNs[set]) / static_cast<double>(each.time.windowNs)});
      table.rows.push_back(std::move(row));
    }
  });
  return table;
}

Table idleTable(const JobReport& report) {
  Table table{placeColumns(), {}};
  append(table.columns,
         {{"stream", "stream", ColumnKind::Number}, durationColumn("idle_ns", "idle")});
  constexpr std::array<const char*, device::kIdleCauses> kKeys = {
      "host_ns", "launching_ns", "event_ns", "busy_ns", "gap_ns", "unknown_ns", "no_more_ns"};
  constexpr std::array<const char*, device::kIdleCauses> kTitles = {
      "host", "launching", "event", "device busy", "gap", "unknown", "no more"};
  for (std::size_t cause = 0; cause < kKeys.size(); ++cause)
    append(table.columns, {durationColumn(kKeys[cause], kTitles[cause])});
  eachDevice(report, [&](const Row& place, const DeviceSummary& each) {
    for (const device::StreamSummary& stream : each.streams) {
      Row row = place;
      append(row, {stream.number, stream.idle.idleNs()});
      for (const std::int64_t ns : stream.idle.causeNs)
        row.emplace_back(ns);
      table.rows.push_back(std::move(row));
    }
  });
  return table;
}

Table queueTable(const JobReport& report) {
  Table table{placeColumns(), {}};
  append(table.columns,
         {{"stream", "stream", ColumnKind::Number},
          countColumn("launched", "launched"),
          {"mean", "mean length", ColumnKind::Real},
          countColumn("p50", "p50"),
          countColumn("p95", "p95"),
          countColumn("p99", "p99"),
          countColumn("max", "max"),
          durationColumn("full_ns", "full")});
  eachDevice(report, [&](const Row& place, const DeviceSummary& each) {
    for (const device::StreamSummary& stream : each.streams) {
      const device::QueueLength& queue = stream.queue;
      Row row = place;
      append(row,
             {stream.number,
              queue.launched,
              queue.mean,
              queue.p50,
              queue.p95,
              queue.p99,
              queue.max,
              queue.fullNs});
      table.rows.push_back(std::move(row));
    }
  });
  return table;
}

Table kernelTable(const JobReport& report) {
  Table table{placeColumns(), {}};
  append(table.columns,
         {textColumn("name", "kernel"), textColumn("kind", "for"), countColumn("count", "count")});
  append(table.columns, spreadColumns());
  append(table.columns, {shareColumn("share", "share")});
  eachDevice(report, [&](const Row& place, const DeviceSummary& each) {
    for (const device::KernelRow& kernel : each.kernels) {
      Row row = place;
      append(row,
             {report.devices.nameOf(kernel.nameId),
              std::string(device::word(kernel.kind)),
              kernel.ns.count});
      append(row, spreadCells(kernel.ns));
      row.emplace_back(kernel.share);
      table.rows.push_back(std::move(row));
    }
  });
  return table;
}

Table copyTable(const JobReport& report) {
  Table table{placeColumns(), {}};
  append(table.columns,
         {textColumn("kind", "copy"),
          textColumn("memory", "host memory"),
          countColumn("count", "count")});
  append(table.columns, spreadColumns());
  append(table.columns,
         {shareColumn("share", "share"),
          {"bytes", "bytes", ColumnKind::Bytes},
          {"bytes_per_s", "in a second", ColumnKind::Bytes},
          {"p50_bytes_per_s", "p50", ColumnKind::Bytes},
          {"max_bytes_per_s", "max", ColumnKind::Bytes}});
  eachDevice(report, [&](const Row& place, const DeviceSummary& each) {
    for (const device::CopyRow& copy : each.copies) {
      const bool isKnown = copy.bytesPerSecond.has_value();
      Row row = place;
      append(row,
             {copy.kind,
              copy.pinned ? Cell(std::string(*copy.pinned ? "pinned" : "pageable")) : Cell(),
              copy.ns.count});
      append(row, spreadCells(copy.ns));
      append(row,
             {copy.share,
              copy.bytes,
              rateCell(copy.bytesPerSecond),
              isKnown ? rateCell(copy.p50BytesPerSecond) : Cell(),
              isKnown ? rateCell(copy.maxBytesPerSecond) : Cell()});
      table.rows.push_back(std::move(row));
    }
  });
  return table;
}

Table launchTable(const JobReport& report) {
  Table table{placeColumns(), {}};
  append(table.columns, {textColumn("call", "launching call"), countColumn("calls", "calls")});
  append(table.columns, spreadColumns("call_", "in calls"));
  append(table.columns,
         {countColumn("launched", "launched"), durationColumn("launched_ns", "ran")});
  append(table.columns,
         {durationColumn("delay_p50_ns", "delay p50"),
          durationColumn("delay_p95_ns", "p95"),
          durationColumn("delay_p99_ns", "p99"),
          countColumn("shorter_than_call", "shorter"),
          countColumn("calls_above_50us", "call >50 µs"),
          countColumn("delays_above_100us", "delay >100 µs")});
  eachDevice(report, [&](const Row& place, const DeviceSummary& each) {
    for (const device::LaunchRow& launch : each.launches) {
      Row row = place;
      append(row, {report.devices.nameOf(launch.callNameId), launch.callNs.count});
      append(row, spreadCells(launch.callNs));
      append(row,
             {launch.workNs.count,
              launch.workNs.total,
              launch.delayNs.p50,
              launch.delayNs.p95,
              launch.delayNs.p99,
              launch.shorter,
              launch.slowCalls,
              launch.late});
      table.rows.push_back(std::move(row));
    }
  });
  return table;
}

}  // namespace

const std::vector<DeviceTable>& deviceTables() {
  static const std::vector<DeviceTable> kTables = {
      {"devices",
       "Devices (compute, exposed communication, exposed copies and idle sum to the window)",
       deviceTable},
      {"steps", "Devices, step by step", stepTable},
      {"activity", "What devices did at once (sums to the window)", setTable},
      {"stream_idle", "Idle streams, by cause (the causes sum to the idle time)", idleTable},
      {"queues", "Queue length of streams, over time", queueTable},
      {"kernels", "Kernels (share: of the window)", kernelTable},
      {"copies", "Copies and sets", copyTable},
      {"launches", "Launches", launchTable},
  };
  return kTables;
}

std::vector<Column> spreadColumns(const std::string& prefix, const char* title) {
  return {{prefix + "ns", title, ColumnKind::DurationNs},
          {prefix + "p50_ns", "p50", ColumnKind::DurationNs},
          {prefix + "p95_ns", "p95", ColumnKind::DurationNs},
          {prefix + "p99_ns", "p99", ColumnKind::DurationNs},
          {prefix + "max_ns", "max", ColumnKind::DurationNs}};
}

std::vector<Cell> spreadCells(const Spread& spread) {
  return {spread.total, spread.p50, spread.p95, spread.p99, spread.max};
}

Cell rateCell(const std::optional<double>& bytesPerSecond) {
  return bytesPerSecond ? Cell(static_cast<std::int64_t>(std::llround(*bytesPerSecond))) : Cell();
}

}  // namespace sonde::cli
