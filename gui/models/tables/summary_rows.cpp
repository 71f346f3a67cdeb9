#include "gui/models/tables/summary_rows.h"

#include "analysis/engine/summaries/summaries.h"
#include "gui/trace/qtext.h"

#include <type_traits>
#include <variant>

namespace sonde::gui {
namespace {

namespace metrics = engine::metrics;

QVariant valueOf(const metrics::SummaryCell& cell) {
  return std::visit(
      [](const auto& value) -> QVariant {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>)
          return {};
        else if constexpr (std::is_same_v<T, std::string>)
          return qtext(value);
        else if constexpr (std::is_same_v<T, std::int64_t>)
          return QVariant::fromValue<qlonglong>(value);
        else
          return value;
      },
      cell);
}

// Nsight's titles have the unit: "Total Time (ns)".
ValueColumn columnOf(const metrics::SummaryColumn& column) {
  const QString title = qtext(column.title);
  if (column.kind == metrics::SummaryColumn::Kind::Text)
    return {title};
  const bool isTime = title.endsWith(QStringLiteral("(ns)"));
  return {isTime ? title.chopped(5) : title,
          isTime                                                           ? ValueKind::Duration
          : column.kind == metrics::SummaryColumn::Kind::Id                ? ValueKind::Integer
          : title.contains(u'%') || title.contains(QStringLiteral("(MB)")) ? ValueKind::Real
                                                                           : ValueKind::Integer};
}

// The first of the usual tables for which the trace has events.
Result<std::string> usualSummary(const store::Database& trace) {
  SONDE_TRY_ASSIGN(
      auto found,
      trace.prepare("SELECT EXISTS (SELECT 1 FROM kernel), EXISTS (SELECT 1 FROM slice "
                    "WHERE kind = 'operator')"));
  SONDE_TRY(found.step());
  return std::string(found.integer(0) != 0   ? "cuda_gpu_kern_sum"
                     : found.integer(1) != 0 ? "operator_sum"
                                             : "nvtx_sum");
}

}  // namespace

std::vector<SummaryTitle> summaryTitles() {
  std::vector<SummaryTitle> titles;
  for (const metrics::SummaryName& each : metrics::summaryNames())
    titles.push_back({std::string(each.name), qtext(each.title)});
  return titles;
}

Result<SummaryRows> summaryRows(const store::Database& trace,
                                const std::string& name,
                                const std::optional<metrics::Interval>& within) {
  SummaryRows result{name, {}, {}};
  if (name.empty()) {
    SONDE_TRY_ASSIGN(result.name, usualSummary(trace));
  }
  SONDE_TRY_ASSIGN(const metrics::SummaryTable table,
                   metrics::summarise(trace, result.name, within));
  std::size_t nameColumn = table.columns.size();
  for (std::size_t at = 0; at < table.columns.size(); ++at) {
    result.columns.push_back(columnOf(table.columns[at]));
    if (table.columns[at].kind == metrics::SummaryColumn::Kind::Text)
      nameColumn = at;
  }
  for (const auto& cells : table.rows) {
    ValueRow row;
    for (const metrics::SummaryCell& cell : cells)
      row.values.push_back(valueOf(cell));
    if (nameColumn < row.values.size())
      row.place.name = row.values[nameColumn].toString();
    result.rows.push_back(std::move(row));
  }
  return result;
}

}  // namespace sonde::gui
