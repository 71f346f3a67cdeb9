#include "cli/report/report_devices.h"

#include "cli/report/report_device_tables.h"
#include "cli/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace device = engine::device;
using device::JobSummary;
using nlohmann::json;
using Row = std::vector<Cell>;

std::vector<Column> withSpread(std::vector<Column> columns) {
  columns.push_back({"count", "count", ColumnKind::Integer});
  const std::vector<Column> spread = spreadColumns();
  columns.insert(columns.end(), spread.begin(), spread.end());
  return columns;
}

Row spreadRow(Row row, const device::Spread& spread) {
  row.emplace_back(spread.count);
  const Row cells = spreadCells(spread);
  row.insert(row.end(), cells.begin(), cells.end());
  return row;
}

template <typename Use>
void eachRank(const JobReport& report, Use use) {
  for (std::size_t at = 0; at < report.ranks.size() && at < report.devices.ranks.size(); ++at)
    use(orNone(report.ranks[at].process.rank), report.devices.ranks[at].costs);
}

Table waitingTable(const JobReport& report) {
  Table table{withSpread({rankColumn(), {"call", "waiting call"}}), {}};
  table.columns.push_back({"device_busy_ns", "device busy", ColumnKind::DurationNs});
  table.columns.push_back({"share", "share", ColumnKind::Fraction});
  eachRank(report, [&](const Cell& rank, const device::HostCosts& costs) {
    for (const device::WaitingCallRow& call : costs.waiting) {
      Row row = spreadRow({rank, call.call}, call.ns);
      row.emplace_back(call.deviceBusyNs);
      row.emplace_back(call.share);
      table.rows.push_back(std::move(row));
    }
  });
  return table;
}

Table graphTable(const JobReport& report) {
  Table table{withSpread({rankColumn(), {"call", "graph launch"}}), {}};
  table.columns.push_back({"launched", "launched", ColumnKind::Integer});
  table.columns.push_back({"device_ns", "on devices", ColumnKind::DurationNs});
  eachRank(report, [&](const Cell& rank, const device::HostCosts& costs) {
    for (const device::GraphLaunchRow& graph : costs.graphs) {
      Row row = spreadRow({rank, graph.call}, graph.callNs);
      row.emplace_back(graph.work);
      row.emplace_back(graph.deviceNs);
      table.rows.push_back(std::move(row));
    }
  });
  return table;
}

Table operatorTable(const JobReport& report) {
  Table table{withSpread({rankColumn(), {"name", "operator"}}), {}};
  table.columns.push_back({"self_ns", "self", ColumnKind::DurationNs});
  table.columns.push_back({"share", "share", ColumnKind::Fraction});
  table.columns.push_back({"launched", "launched", ColumnKind::Integer});
  table.columns.push_back({"device_ns", "on devices", ColumnKind::DurationNs});
  eachRank(report, [&](const Cell& rank, const device::HostCosts& costs) {
    for (const device::OperatorRow& each : costs.operators) {
      Row row = spreadRow({rank, each.name}, each.ns);
      row.emplace_back(each.selfNs);
      row.emplace_back(each.share);
      row.emplace_back(each.work);
      row.emplace_back(each.deviceNs);
      table.rows.push_back(std::move(row));
    }
  });
  return table;
}

Table collectiveTable(const JobReport& report) {
  Table table{withSpread({{"op", "collective"},
                          {"ranks", "ranks", ColumnKind::Number},
                          {"bytes", "bytes", ColumnKind::Bytes}}),
              {}};
  table.columns.push_back({"share", "share", ColumnKind::Fraction});
  table.columns.push_back({"wait_ns", "waiting", ColumnKind::DurationNs});
  table.columns.push_back({"transfer_ns", "transfer", ColumnKind::DurationNs});
  table.columns.push_back({"unfit", "unfit", ColumnKind::Integer});
  table.columns.push_back({"algorithm_bytes_per_s", "in a second", ColumnKind::Bytes});
  table.columns.push_back({"bus_bytes_per_s", "on the bus", ColumnKind::Bytes});
  table.columns.push_back({"bandwidth_of", "of"});
  for (const device::CollectiveRow& each : report.devices.collectiveRows) {
    Row row = spreadRow({each.op, each.size, orNone(each.bytes)}, each.ns);
    const Row more = {each.share,
                      each.waitNs,
                      each.transferNs,
                      each.unfit,
                      rateCell(each.algorithmBytesPerSecond),
                      rateCell(each.busBytesPerSecond),
                      std::string(each.fromTransfers ? "transfer" : "call")};
    row.insert(row.end(), more.begin(), more.end());
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table lagTable(const JobReport& report) {
  Table table{{rankColumn(),
               {"median_lag_ns", "lag", ColumnKind::DurationNs},
               {"share", "of a step", ColumnKind::Fraction},
               {"iterations", "steps", ColumnKind::Integer},
               {"greatest_in", "latest in", ColumnKind::Integer},
               {"chance", "by chance", ColumnKind::Real},
               {"collectives", "collectives", ColumnKind::Integer},
               {"last_in", "last in", ColumnKind::Integer},
               {"verdict", "verdict"}},
              {}};
  for (const device::RankLag& rank : report.devices.stragglers.ranks)
    table.rows.push_back({orNone(rank.rank),
                          rank.medianLagNs,
                          rank.share,
                          rank.iterations,
                          rank.greatestIn,
                          rank.chance,
                          rank.collectives,
                          rank.lastIn,
                          std::string(rank.isStraggler ? "straggler" : "none")});
  return table;
}

json arrivalsJson(const device::JoinedCollective& collective, std::int64_t originNs) {
  json rows = json::array();
  const auto ifSplit = [&](std::int64_t ns) {
    return collective.isSplit() ? json(ns) : json(nullptr);
  };
  for (const device::Arrival& arrival : collective.arrivals)
    rows.push_back({{"rank", cellAsJson(orNone(arrival.rank))},
                    {"start_ns", arrival.beginNs - originNs},
                    {"ns", arrival.endNs - arrival.beginNs},
                    {"wait_ns", ifSplit(arrival.waitNs)},
                    {"transfer_ns", ifSplit(arrival.transferNs)}});
  return rows;
}

json callsJson(const JobSummary& devices, std::int64_t originNs) {
  json rows = json::array();
  for (const device::JoinedCollective& collective : devices.collectives)
    rows.push_back(
        {{"group", collective.group},
         {"seq", cellAsJson(orNone(collective.seq))},
         {"op", collective.op},
         {"ranks", collective.size},
         {"bytes", cellAsJson(orNone(collective.bytes))},
         {"last_rank",
          collective.isJoined() ? cellAsJson(orNone(collective.arrivals[collective.last].rank))
                                : json(nullptr)},
         {"end_spread_ns", collective.lastEndNs() - collective.firstEndNs()},
         {"arrivals", arrivalsJson(collective, originNs)}});
  return rows;
}

json stragglersJson(const JobReport& report) {
  const device::StragglerVerdict& verdict = report.devices.stragglers;
  json ranks = json::array();
  for (const std::size_t at : verdict.stragglers)
    ranks.push_back(cellAsJson(orNone(verdict.ranks[at].rank)));
  return {{"verdict", ranks.empty() ? "none" : "straggler"},
          {"ranks", std::move(ranks)},
          {"reason", verdict.reason}};
}

std::string namesOf(const device::StragglerVerdict& verdict) {
  std::string names;
  for (const std::size_t at : verdict.stragglers) {
    const device::RankLag& rank = verdict.ranks[at];
    names += fmt::format("{}{} ({} a step, {})",
                         names.empty() ? "" : ", ",
                         rank.rank ? fmt::format("rank {}", *rank.rank) : "a process",
                         humanDuration(rank.medianLagNs),
                         humanFraction(rank.share));
  }
  return names;
}

}  // namespace

const std::vector<DeviceTable>& costTables() {
  static const std::vector<DeviceTable> kTables = {
      {"waiting_calls", "Calls that wait for devices (share: of the window)", waitingTable},
      {"graph_launches", "Launches of graphs", graphTable},
      {"operators",
       "Operators (share: of the time that is their own in the window)",
       operatorTable},
      {"collectives",
       "Collectives (share: of the time in all of them; waiting: until all had come that a rank "
       "needs)",
       collectiveTable},
      {"lags", "Who is late to collectives, in a median step", lagTable},
  };
  return kTables;
}

void appendSection(Lines& lines, const char* heading, Table table) {
  constexpr int kNameWidth = 48;
  constexpr std::size_t kRows = 200;
  if (table.rows.empty())
    return;
  const std::size_t hidden = table.rows.size() - std::min(table.rows.size(), kRows);
  table.rows.resize(table.rows.size() - hidden);
  for (Row& row : table.rows)
    for (Cell& cell : row)
      if (auto* name = std::get_if<std::string>(&cell))
        *name = cutInside(*name, kNameWidth);
  lines.emplace_back();
  lines.emplace_back(heading);
  const std::string text = renderText(table, 2);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (hidden > 0)
    lines.push_back(fmt::format("  … {} more: --format json", hidden));
}

Lines stragglerLines(const JobReport& report) {
  const device::StragglerVerdict& verdict = report.devices.stragglers;
  if (verdict.ranks.size() < 2)
    return {};
  Lines lines;
  if (verdict.stragglers.empty())
    appendWrapped(lines, fmt::format("No straggler: {}.", verdict.reason), 2);
  else
    appendWrapped(lines, fmt::format("Stragglers: {}: {}.", namesOf(verdict), verdict.reason), 2);
  return lines;
}

Lines deviceSections(const JobReport& report) {
  Lines lines;
  for (const auto* tables : {&deviceTables(), &costTables()})
    for (const DeviceTable& each : *tables)
      appendSection(lines, each.heading, each.make(report));
  return lines;
}

void addDevicesJson(json& document, const JobReport& report, bool full) {
  for (const auto* tables : {&deviceTables(), &costTables()})
    for (const DeviceTable& each : *tables)
      document[each.key] = rowsAsObjects(each.make(report));
  document["stragglers"] = stragglersJson(report);
  const device::ClockCheck& clocks = report.devices.clocks;
  document["clocks"] = {{"agree", clocks.agree},
                        {"collectives", clocks.collectives},
                        {"end_spread_ns", clocks.endSpreadNs},
                        {"arrival_spread_ns", clocks.arrivalSpreadNs}};
  if (full)
    document["collective_calls"] = callsJson(report.devices, report.facts.originNs);
}

}  // namespace sonde::cli
