#include "analysis/engine/summaries/summaries.h"

#include "analysis/engine/summaries/held_slices.h"
#include "analysis/engine/summaries/summary_specs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace sonde::engine::metrics {
namespace {

using store::ColumnType;
using store::Statement;

// The values of one column of a group, without NULLs.
struct Values {
  std::vector<std::int64_t> sorted;

  std::int64_t total() const {
    return std::accumulate(sorted.begin(), sorted.end(), std::int64_t{0});
  }
  double mean() const { return static_cast<double>(total()) / static_cast<double>(sorted.size()); }
  double median() const {
    const std::size_t middle = sorted.size() / 2;
    const auto upper = static_cast<double>(sorted[middle]);
    return sorted.size() % 2 == 1 ? upper : (static_cast<double>(sorted[middle - 1]) + upper) / 2;
  }
  double deviation() const {
    if (sorted.size() < 2)
      return 0;
    const double center = mean();
    double squares = 0;
    for (const std::int64_t value : sorted)
      squares += (static_cast<double>(value) - center) * (static_cast<double>(value) - center);
    return std::sqrt(squares / static_cast<double>(sorted.size() - 1));
  }
  std::int64_t distinct() const {
    std::vector<std::int64_t> unique = sorted;
    return std::unique(unique.begin(), unique.end()) - unique.begin();
  }
};

struct Group {
  std::vector<SummaryCell> labels;
  std::int64_t count = 0;
  std::vector<Values> values;
};

SummaryCell labelOf(const Statement& row, int column) {
  switch (row.columnType(column)) {
    case ColumnType::Null:
      return {};
    case ColumnType::Integer:
      return row.integer(column);
    default:
      return std::string(row.text(column));
  }
}

Result<std::vector<Group>> readGroups(const store::Database& trace, const SummarySpec& spec) {
  if (!spec.slices.empty())
    SONDE_TRY(makeHeldSlices(trace, spec.slices));
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(spec.query));
  std::map<std::vector<SummaryCell>, Group> groups;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      break;
    std::vector<SummaryCell> labels;
    for (std::size_t label = 0; label < spec.labels; ++label)
      labels.push_back(labelOf(rows, static_cast<int>(label)));
    Group& group = groups[std::move(labels)];
    group.values.resize(spec.values);
    ++group.count;
    for (std::size_t value = 0; value < spec.values; ++value)
      if (const auto number = rows.optionalInteger(static_cast<int>(spec.labels + value)))
        group.values[value].sorted.push_back(*number);
  }
  std::vector<Group> list;
  list.reserve(groups.size());
  for (auto& [labels, group] : groups) {
    group.labels = labels;
    for (Values& values : group.values)
      std::sort(values.sorted.begin(), values.sorted.end());
    list.push_back(std::move(group));
  }
  std::stable_sort(list.begin(), list.end(), [](const Group& a, const Group& b) {
    return a.values.front().total() > b.values.front().total();
  });
  return list;
}

// Whole numbers stay whole unless the column uses another unit.
SummaryCell scaled(std::int64_t value, double scale) {
  return scale == 1 ? SummaryCell(value) : SummaryCell(static_cast<double>(value) / scale);
}

SummaryCell cellOf(const Group& group, const SummarySource& column, std::int64_t totalOfAll) {
  if (column.from == From::Label)
    return group.labels[column.index];
  if (column.from == From::Count)
    return group.count;
  const Values& values = group.values[column.index];
  if (column.from == From::Distinct)
    return values.distinct();
  if (column.from == From::Present)
    return static_cast<std::int64_t>(values.sorted.size());
  if (values.sorted.empty())
    return {};
  switch (column.from) {
    case From::Share:
      return totalOfAll == 0 ? SummaryCell(0.0)
                             : SummaryCell(100.0 * static_cast<double>(values.total()) /
                                           static_cast<double>(totalOfAll));
    case From::Total:
      return scaled(values.total(), column.scale);
    case From::Average:
      return values.mean() / column.scale;
    case From::Median:
      return values.median() / column.scale;
    case From::Least:
      return scaled(values.sorted.front(), column.scale);
    case From::Greatest:
      return scaled(values.sorted.back(), column.scale);
    default:
      return values.deviation() / column.scale;
  }
}

constexpr int kDecimalsOfUnits = 3;  // of values in mega units

SummaryColumn::Kind kindOf(const SummarySource& column) {
  if (column.from != From::Label)
    return SummaryColumn::Kind::Number;
  const bool isId = column.title == "PID" || column.title == "TID" || column.title == "DevId";
  return isId ? SummaryColumn::Kind::Id : SummaryColumn::Kind::Text;
}

}  // namespace

std::vector<SummaryName> summaryNames() {
  std::vector<SummaryName> names;
  for (const SummarySpec& spec : summarySpecs())
    names.push_back({spec.name, spec.title});
  return names;
}

Result<SummaryTable> summarise(const store::Database& trace,
                               std::string_view name,
                               const std::optional<Interval>& within) {
  const std::vector<SummarySpec> specs = summarySpecs(within);
  const auto spec =
      std::find_if(specs.begin(), specs.end(), [&](const auto& each) { return each.name == name; });
  if (spec == specs.end())
    return Error{ErrorCode::NotFound, fmt::format("there is no summary '{}'", name)};
  SONDE_TRY_ASSIGN(const std::vector<Group> groups, readGroups(trace, *spec));
  std::int64_t total = 0;
  for (const Group& group : groups)
    total += group.values.front().total();
  SummaryTable table{spec->name, spec->title, {}, {}};
  for (const SummarySource& column : spec->columns) {
    table.columns.push_back(
        {column.title, kindOf(column), column.scale == 1 ? 1 : kDecimalsOfUnits});
  }
  for (const Group& group : groups) {
    std::vector<SummaryCell>& row = table.rows.emplace_back();
    for (const SummarySource& column : spec->columns)
      row.push_back(cellOf(group, column, total));
  }
  return table;
}

}  // namespace sonde::engine::metrics
