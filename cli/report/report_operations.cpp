#include "cli/report/report_operations.h"

#include <algorithm>
#include <string_view>

namespace sonde::cli {
namespace {

constexpr std::size_t kRankColumns = 4;  // more ranks get their extremes instead

bool isDetail(std::string_view kind) {
  return kind == "module" || kind == "operator" || kind == "api" || kind == "python";
}

}  // namespace

OperationRows gatherOperations(const JobReport& report, bool full) {
  std::map<std::pair<std::string, std::string>, OperationRow> rows;
  for (std::size_t i = 0; i < report.ranks.size(); ++i)
    for (const engine::metrics::OperationTime& operation : report.ranks[i].operations) {
      if (!full && isDetail(operation.kind))
        continue;
      OperationRow& row = rows[{operation.kind, operation.name}];
      row.count += operation.count;
      row.p50Ns = std::max(row.p50Ns, operation.p50Ns);
      row.p95Ns = std::max(row.p95Ns, operation.p95Ns);
      row.totalNs += operation.ns;
      row.byRank[i] += operation.ns;
    }
  OperationRows sorted(rows.begin(), rows.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.totalNs > b.second.totalNs;
  });
  return sorted;
}

Lines operationLines(const JobReport& report, const OperationRows& rows, std::size_t limit) {
  Table table{{{"name", "operation"},
               {"count", "count", ColumnKind::Integer},
               {"p50", "p50", ColumnKind::DurationNs},
               {"p95", "p95", ColumnKind::DurationNs},
               {"share", "share", ColumnKind::Fraction}},
              {}};
  const bool each = report.ranks.size() <= kRankColumns;
  std::int64_t windows = 0;
  for (const RankReport& rank : report.ranks)
    windows += rank.time.windowNs;
  if (each)
    for (const RankReport& rank : report.ranks)
      table.columns.push_back({rank.process.name, rank.process.name, ColumnKind::DurationNs});
  else
    for (const char* title : {"least", "most"})
      table.columns.push_back({title, title, ColumnKind::DurationNs});
  for (const auto& [key, row] : rows) {
    std::vector<Cell> cells = {
        operationName(key.first, key.second),
        row.count,
        row.p50Ns,
        row.p95Ns,
        windows > 0 ? Cell(static_cast<double>(row.totalNs) / static_cast<double>(windows))
                    : Cell()};
    std::vector<std::int64_t> totals(report.ranks.size(), 0);
    for (const auto& [rank, ns] : row.byRank)
      totals[rank] = ns;
    if (each)
      cells.insert(cells.end(), totals.begin(), totals.end());
    else
      for (const std::int64_t ns : {*std::min_element(totals.begin(), totals.end()),
                                    *std::max_element(totals.begin(), totals.end())})
        cells.emplace_back(ns);
    table.rows.push_back(std::move(cells));
  }
  if (table.rows.empty())
    return {};
  const bool severalAtOnce = std::any_of(rows.begin(), rows.end(), [windows](const auto& row) {
    return row.second.totalNs > windows;
  });
  Lines lines = {"", "Operations, in each rank's window"};
  if (severalAtOnce)
    lines.back() += "; above 100 %: by several threads at once";
  appendTable(lines, std::move(table), limit);
  return lines;
}

}  // namespace sonde::cli
