#include "rules/custom/sql_rule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

namespace sonde::rules {
namespace {

using store::ColumnType;
using store::Statement;

constexpr std::size_t kMostFindings = 100;
constexpr std::size_t kShownLetters = 40;  // of a wrong value

EvidenceValue cellOf(const Statement& row, int column) {
  if (row.columnType(column) == ColumnType::Integer)
    return row.integer(column);
  if (row.columnType(column) == ColumnType::Real)
    return row.real(column);
  return std::string(row.text(column));
}

std::string textOf(const EvidenceValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value))
    return fmt::format("{:.6g}", *real);
  return std::get<std::string>(value);
}

Error wrongColumn(const Statement& row, int column, std::string_view expected) {
  return Error{ErrorCode::InvalidArgument,
               fmt::format("column '{}' of a row is '{}': {}",
                           row.columnName(column),
                           row.text(column).substr(0, kShownLetters),
                           expected)};
}

// 0 if it is NULL.
Result<double> numberOf(const Statement& row, int column) {
  const ColumnType type = row.columnType(column);
  const bool isNumber =
      type == ColumnType::Integer || type == ColumnType::Real || type == ColumnType::Null;
  if (!isNumber || !std::isfinite(row.real(column)))
    return wrongColumn(row, column, "a finite number is expected");
  return row.real(column);
}

Result<EvidenceValue> evidenceOf(const Statement& row, int column) {
  if (row.columnType(column) == ColumnType::Real)
    SONDE_TRY(numberOf(row, column));
  return cellOf(row, column);
}

Result<void> readColumn(const Statement& row, int column, Finding& finding) {
  Outcome& outcome = finding.outcome;
  const std::string name = row.columnName(column);
  if (name == "entity") {
    finding.entity = row.text(column);
    if (finding.entity.empty())
      return wrongColumn(row, column, "a text that is not empty is expected, or NULL for the job");
  } else if (name == "message") {
    outcome.message = row.text(column);
  } else if (name == "value") {
    SONDE_TRY_ASSIGN(outcome.value, numberOf(row, column));
  } else if (name == "threshold") {
    SONDE_TRY_ASSIGN(outcome.threshold, numberOf(row, column));
  } else {
    SONDE_TRY_ASSIGN(outcome.evidence[name], evidenceOf(row, column));
  }
  return {};
}

// A finding of one row.
Result<Finding> findingOf(const Statement& row, const std::string& summary) {
  Finding finding{"job", {}};
  Outcome& outcome = finding.outcome;
  outcome.verdict = Verdict::Fired;
  outcome.samples = 1;
  std::vector<std::string> shown;
  for (int i = 0; i < row.columnCount(); ++i) {
    if (row.isNull(i))
      continue;
    SONDE_TRY(readColumn(row, i, finding));
    const std::string name = row.columnName(i);
    if (name != "entity" && name != "message")
      shown.push_back(fmt::format("{} {}", name, textOf(cellOf(row, i))));
  }
  if (outcome.message.empty())
    outcome.message = fmt::format("{}: {}", summary, fmt::join(shown, ", "));
  return finding;
}

Finding wholeFinding(Verdict verdict, std::string message) {
  Finding finding{"job", {}};
  finding.outcome.verdict = verdict;
  finding.outcome.message = std::move(message);
  return finding;
}

// Whether the trace has what the rule needs.
Result<bool> hasData(const store::Database& trace, const SqlRule& rule) {
  if (rule.needsData.empty())
    return true;
  store::UserQuery query = rule.query;
  query.sql = rule.needsData;
  bool isFirst = true;
  bool has = false;
  SONDE_TRY(store::runUserQuery(trace, query, [&](const Statement& row) -> Result<void> {
    if (std::exchange(isFirst, false)) {
      SONDE_TRY_ASSIGN(const double first, numberOf(row, 0));
      has = first != 0;
    }
    return {};
  }));
  return has;
}

Result<std::vector<Finding>> judgeSql(const SqlRule& rule, const store::Database& trace) {
  SONDE_TRY_ASSIGN(const bool has, hasData(trace, rule));
  if (!has)
    return std::vector{wholeFinding(
        Verdict::Insufficient,
        fmt::format("the trace lacks the data of the rule: {} gives 0", rule.needsData))};
  std::vector<Finding> findings;
  std::size_t more = 0;
  SONDE_TRY(store::runUserQuery(trace, rule.query, [&](const Statement& row) -> Result<void> {
    if (findings.size() == kMostFindings) {
      ++more;
      return {};
    }
    SONDE_TRY_ASSIGN(Finding finding, findingOf(row, rule.summary));
    findings.push_back(std::move(finding));
    return {};
  }));
  if (findings.empty())
    findings.push_back(wholeFinding(Verdict::Pass, "the statement has no row"));
  if (more > 0)
    findings.back().outcome.message += fmt::format("; {} more rows are left out", more);
  for (Finding& finding : findings)
    finding.outcome.query = rule.query.sql;
  return findings;
}

}  // namespace

Result<std::shared_ptr<const RuleInfo>> makeSqlRule(const SqlRule& rule) {
  SONDE_TRY(store::checkUserQuery(rule.query));
  if (!rule.needsData.empty()) {
    store::UserQuery needs = rule.query;
    needs.sql = rule.needsData;
    SONDE_TRY(store::checkUserQuery(needs));
  }
  auto info = std::make_shared<RuleInfo>();
  info->name = rule.name;
  info->profile = Profile::Ci;
  info->summary = rule.summary;
  info->details = rule.query.sql;
  info->hint = rule.hint;
  info->judge =
      JobJudge([rule](Facts& facts, const Parameters&) { return judgeSql(rule, facts.trace()); });
  return std::shared_ptr<const RuleInfo>(std::move(info));
}

}  // namespace sonde::rules
