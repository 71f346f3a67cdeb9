#include "analysis/store/statement.h"
#include "cli/shell/command.h"
#include "cli/shell/open_job.h"
#include "cli/text/table.h"

#include <fmt/format.h>

#include <cstdlib>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

using store::ColumnType;
using store::Statement;

class SqlCommand : public Command {
 public:
  const char* name() const override { return "sql"; }
  const char* summary() const override { return "run a SELECT on a trace"; }
  const char* details() const override {
    return "docs/schema.md describes the tables, columns and views. Traces are read-only. In JSON, "
           "integers beyond 2^53\n"
           "are strings, because many readers would round them. Blobs are hexadecimal.\n"
           "\nExamples:\n"
           "  sonde sql rank0.sonde \"SELECT name, count(*), sum(dur_ns) FROM v_slice GROUP BY "
           "name\"\n"
           "  sonde sql rank0.sonde rank1.sonde \"SELECT rank, number, dur_ns FROM v_iteration\" "
           "--format csv\n";
  }
  void declare(CLI::App& app) override {
    addFormatOption(app, format_);
    app.add_option("TRACE… SELECT", words_, "traces of one job, then the statement")
        ->required()
        ->expected(2, CLI::detail::expected_max_vector_size);
  }
  int run() override;

 private:
  Format format_ = Format::Table;
  std::vector<std::string> words_;
};

Cell cellOf(const Statement& row, int column) {
  switch (row.columnType(column)) {
    case ColumnType::Integer:
      return row.integer(column);
    case ColumnType::Real:
      return row.real(column);
    case ColumnType::Text:
      return std::string(row.text(column));
    case ColumnType::Blob:
      return Blob{std::string(row.text(column))};
    case ColumnType::Null:
      break;
  }
  return std::monostate{};
}

// All columns are plain text and numbers: values are shown as stored.
Result<Table> rowsOf(Statement& statement) {
  Table table;
  for (int i = 0; i < statement.columnCount(); ++i)
    table.columns.push_back({statement.columnName(i), statement.columnName(i), ColumnKind::Text});
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, statement.step());
    if (!row)
      return table;
    std::vector<Cell> cells;
    for (int i = 0; i < statement.columnCount(); ++i) {
      cells.push_back(cellOf(statement, i));
      if (statement.columnType(i) == ColumnType::Integer ||
          statement.columnType(i) == ColumnType::Real)
        table.columns[static_cast<std::size_t>(i)].kind = ColumnKind::Number;
    }
    table.rows.push_back(std::move(cells));
  }
}

constexpr std::int64_t kLargestExact = std::int64_t{1} << 53;

nlohmann::json jsonOf(const Table& table) {
  nlohmann::json columns = nlohmann::json::array();
  for (const Column& column : table.columns)
    columns.push_back(column.key);
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& row : table.rows) {
    nlohmann::json cells = nlohmann::json::array();
    for (const Cell& cell : row) {
      const auto* integer = std::get_if<std::int64_t>(&cell);
      const bool large =
          integer != nullptr && (*integer > kLargestExact || *integer < -kLargestExact);
      cells.push_back(large ? nlohmann::json(std::to_string(*integer)) : cellAsJson(cell));
    }
    rows.push_back(std::move(cells));
  }
  return {{"schema", 1}, {"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

int SqlCommand::run() {
  const std::string sql = words_.back();
  words_.pop_back();
  auto job = Job::open(name(), words_);
  if (!job)
    return fail(name(), job.error());
  auto statement = job->database().prepare(sql, store::Author::User);
  if (!statement) {
    complain(name(),
             fmt::format("{}: correct the statement; docs/schema.md has the tables",
                         statement.error().message));
    return kExitUsage;
  }
  // SQLite calls ATTACH, DETACH and BEGIN read-only; they have no rows.
  if (!statement->readOnly() || statement->columnCount() == 0) {
    complain(name(), "the statement would change the trace, or has no rows: give a SELECT");
    return kExitUsage;
  }
  const auto table = rowsOf(*statement);
  if (!table) {
    complain(name(),
             fmt::format("{}: correct the statement, or check the trace", table.error().message));
    return table.error().code == ErrorCode::InvalidArgument ? kExitUsage : kExitUnreadable;
  }
  if (format_ == Format::Json)
    printOut(dumpJson(jsonOf(*table)));
  else
    printOut(format_ == Format::Csv ? renderCsv(*table) : renderText(*table));
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeSqlCommand() {
  return std::make_unique<SqlCommand>();
}

}  // namespace sonde::cli
