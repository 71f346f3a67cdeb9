#include "analysis/export/csv/csv_exporter.h"

#include "analysis/export/output_file.h"
#include "analysis/export/output_folder.h"
#include "analysis/store/trace_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace sonde::exports {
namespace {

namespace fs = std::filesystem;

using store::ColumnType;
using store::Statement;

// Internal tables of the recorder and the window.
constexpr std::string_view kInternal[] = {
    "ingested", "ingest_state", "open_scope", "line", "lod", "sqlite_stat1", "sqlite_stat4"};

void appendText(std::string& line, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    line.append(text);
    return;
  }
  line.push_back('"');
  for (const char c : text) {
    if (c == '"')
      line.push_back('"');
    line.push_back(c);
  }
  line.push_back('"');
}

// Writes reals with as few digits as read back exactly, and NULL as an empty cell.
void appendCell(std::string& line, const Statement& row, int column) {
  switch (row.columnType(column)) {
    case ColumnType::Null:
      break;
    case ColumnType::Integer:
      line += std::to_string(row.integer(column));
      break;
    case ColumnType::Real:
      line += fmt::format("{}", row.real(column));
      break;
    default:
      appendText(line, row.text(column));
  }
}

Result<std::vector<std::string>> namesOf(const store::Database& trace, std::string_view type) {
  SONDE_TRY_ASSIGN(Statement rows,
                   trace.prepare("SELECT name FROM sqlite_schema WHERE type = ? ORDER BY name"));
  rows.bindAll(type);
  std::vector<std::string> names;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return names;
    names.emplace_back(rows.text(0));
  }
}

Result<void> writeTable(const store::Database& trace,
                        const std::string& source,
                        const fs::path& file) {
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(fmt::format("SELECT * FROM \"{}\"", source)));
  SONDE_TRY_ASSIGN(bool row, rows.step());
  if (!row)
    return {};
  SONDE_TRY_ASSIGN(OutputFile output, OutputFile::create(file, false));
  std::string line;
  for (int column = 0; column < rows.columnCount(); ++column)
    appendText(line.append(column == 0 ? "" : ","), rows.columnName(column));
  SONDE_TRY(output.write(line + "\r\n"));
  while (row) {
    line.clear();
    for (int column = 0; column < rows.columnCount(); ++column)
      appendCell(line.append(column == 0 ? "" : ","), rows, column);
    SONDE_TRY(output.write(line + "\r\n"));
    SONDE_TRY_ASSIGN(row, rows.step());
  }
  return output.finish();
}

// Tables that get a file if they have rows.
Result<std::vector<std::string>> tablesOf(const store::Database& trace) {
  SONDE_TRY_ASSIGN(std::vector<std::string> tables, namesOf(trace, "table"));
  std::erase_if(tables, [](const std::string& table) {
    return std::find(std::begin(kInternal), std::end(kInternal), table) != std::end(kInternal);
  });
  return tables;
}

std::string fileOf(const std::string& table) {
  return table + ".csv";
}

}  // namespace

Result<std::vector<std::string>> unfinishedCsv(const store::Database& trace,
                                               const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code ignored;
  const fs::path part = OutputFolder::partOf(folder);
  if (fs::exists(part, ignored))
    return files;
  SONDE_TRY_ASSIGN(const std::vector<std::string> tables, tablesOf(trace));
  for (const std::string& table : tables) {
    const fs::path file = part / fileOf(table);
    files.push_back(file.string());
    files.push_back(store::partOf(file).string());
  }
  files.push_back(part.string());
  return files;
}

Result<void> exportCsv(const store::Database& trace,
                       const fs::path& folder,
                       bool replace,
                       const Progress& progress) {
  SONDE_TRY_ASSIGN(const std::vector<std::string> tables, tablesOf(trace));
  std::vector<std::string> files(tables.size());
  std::transform(tables.begin(), tables.end(), files.begin(), fileOf);
  SONDE_TRY_ASSIGN(OutputFolder output, OutputFolder::create(folder, replace, std::move(files)));
  SONDE_TRY_ASSIGN(const std::vector<std::string> views, namesOf(trace, "view"));
  for (std::size_t at = 0; at < tables.size(); ++at) {
    const std::string& table = tables[at];
    progress(table, static_cast<double>(at) / static_cast<double>(tables.size()));
    const bool hasView = std::find(views.begin(), views.end(), "v_" + table) != views.end();
    SONDE_TRY(writeTable(trace, hasView ? "v_" + table : table, output.file(fileOf(table))));
  }
  return output.finish();
}

}  // namespace sonde::exports
