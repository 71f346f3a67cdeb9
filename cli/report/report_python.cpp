#include "cli/report/report_python.h"

#include "cli/text/json_value.h"
#include "cli/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace metrics = engine::metrics;
using metrics::PythonTime;

// Sums over all processes, longest first; time outside of all operations comes last.
std::vector<PythonTime> byOperation(const std::vector<PythonTime>& times) {
  std::map<std::pair<std::string, std::string>, PythonTime> sums;
  for (const PythonTime& time : times) {
    PythonTime& sum = sums[{time.kind, time.name}];
    sum.kind = time.kind;
    sum.name = time.name;
    sum.wallNs += time.wallNs;
    for (std::size_t part = 0; part < metrics::kCodeParts; ++part) {
      sum.ns[part] += time.ns[part];
      sum.entered[part] += time.entered[part];
    }
  }
  std::vector<PythonTime> rows;
  rows.reserve(sums.size());
  for (auto& [key, sum] : sums)
    rows.push_back(std::move(sum));
  std::stable_sort(rows.begin(), rows.end(), [](const PythonTime& a, const PythonTime& b) {
    return std::pair(a.kind.empty(), b.wallNs) < std::pair(b.kind.empty(), a.wallNs);
  });
  return rows;
}

std::string labelOf(const PythonTime& time) {
  if (time.kind.empty())
    return "(outside)";
  return cutTo(time.kind == time.name ? time.name : fmt::format("{} {}", time.kind, time.name), 34);
}

}  // namespace

Lines pythonLines(const JobReport& report, std::size_t limit) {
  if (report.python.empty())
    return {};
  Table table{{{"operation", "operation"}, {"wall", "time", ColumnKind::DurationNs}}, {}};
  for (const char* part : metrics::kCodePartNames)
    table.columns.push_back({part, part, ColumnKind::Fraction});
  table.columns.push_back({"calls", "native calls", ColumnKind::Integer});
  for (const PythonTime& time : byOperation(report.python)) {
    std::vector<Cell> cells = {labelOf(time), Cell(time.wallNs)};
    for (const std::int64_t ns : time.ns)
      cells.emplace_back(static_cast<double>(ns) / static_cast<double>(time.wallNs));
    cells.emplace_back(std::accumulate(
        time.entered.begin(), time.entered.end() - 1, std::int64_t{0}));  // without waits
    table.rows.push_back(std::move(cells));
  }
  Lines lines = {""};
  appendLines(lines,
              "Python threads: in the interpreter, in native code by whose it is, and waiting");
  appendTable(lines, std::move(table), limit);
  return lines;
}

nlohmann::json pythonJson(const JobReport& report) {
  nlohmann::json rows = nlohmann::json::array();
  for (const PythonTime& time : report.python) {
    nlohmann::json row = {
        {"rank", orNull(time.rank)},
        {"process_id", time.processId},
        {"kind", time.kind.empty() ? nlohmann::json(nullptr) : nlohmann::json(time.kind)},
        {"operation", time.kind.empty() ? nlohmann::json(nullptr) : nlohmann::json(time.name)},
        {"wall_ns", time.wallNs},
        {"transitions", nlohmann::json::object()}};
    for (std::size_t part = 0; part < metrics::kCodeParts; ++part) {
      row[fmt::format("{}_ns", metrics::kCodePartNames[part])] = time.ns[part];
      if (part != static_cast<std::size_t>(metrics::CodePart::Python))
        row["transitions"][metrics::kCodePartNames[part]] = time.entered[part];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace sonde::cli
