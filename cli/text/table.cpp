#include "cli/text/table.h"

#include "cli/text/word_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

using nlohmann::json;

bool isContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// The width in code points: wider characters are rare in traces.
int widthOf(const std::string& text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !isContinuation(byte); }));
}

std::string hexOf(const Blob& blob) {
  std::string text;
  for (const char byte : blob.bytes)
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string integerText(std::int64_t value, ColumnKind kind) {
  switch (kind) {
    case ColumnKind::DurationNs:
      return humanDuration(value);
    case ColumnKind::Bytes:
      return humanBytes(value);
    case ColumnKind::Integer:
      return humanCount(value);
    default:
      return fmt::format("{}", value);
  }
}

std::string csvText(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell))
    return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&cell))
    return fmt::format("{}", *real);
  if (const auto* blob = std::get_if<Blob>(&cell))
    return hexOf(*blob);
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr)
    return "";
  if (text->find_first_of(",\"\r\n") == std::string::npos)
    return *text;
  std::string quoted = "\"";
  for (const char byte : *text)
    quoted += byte == '"' ? std::string("\"\"") : std::string(1, byte);
  return quoted + '"';
}

std::string padded(const std::string& text, int width, bool right) {
  const std::string space(static_cast<std::size_t>(std::max(0, width - widthOf(text))), ' ');
  return right ? space + text : text + space;
}

std::string alignedLine(const std::vector<std::string>& cells,
                        const std::vector<Column>& columns,
                        const std::vector<int>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i)
    line += (i == 0 ? "" : "  ") + padded(cells[i], widths[i], columns[i].kind != ColumnKind::Text);
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

// Makes the widest text column narrower, so that the numbers after it stay whole.
void narrow(std::vector<std::vector<std::string>>& lines,
            const std::vector<Column>& columns,
            int maxWidth,
            std::vector<int>& widths) {
  constexpr int kLeast = 8;
  const int gaps = 2 * static_cast<int>(widths.size()) - 2;
  const int over = std::accumulate(widths.begin(), widths.end(), gaps) - maxWidth;
  std::size_t widest = widths.size();
  for (std::size_t i = 0; i < widths.size(); ++i)
    if (columns[i].kind == ColumnKind::Text &&
        (widest == widths.size() || widths[i] > widths[widest]))
      widest = i;
  if (over <= 0 || widest == widths.size())
    return;
  widths[widest] = std::max(std::min(kLeast, widths[widest]), widths[widest] - over);
  for (auto& cells : lines)
    cells[widest] = cutTo(cells[widest], widths[widest]);
}

}  // namespace

std::string humanCell(const Cell& cell, ColumnKind kind) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell))
    return integerText(*integer, kind);
  if (const auto* real = std::get_if<double>(&cell))
    return kind == ColumnKind::Fraction ? humanFraction(*real) : fmt::format("{:.6g}", *real);
  if (const auto* text = std::get_if<std::string>(&cell))
    return oneLine(*text);
  if (const auto* blob = std::get_if<Blob>(&cell))
    return "x'" + hexOf(*blob) + "'";
  return "-";
}

std::string oneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char byte) { return byte < ' '; }, ' ');
  return text;
}

void addFormatOption(CLI::App& app, Format& format) {
  addFormatOption<Format>(app,
                          format,
                          {{"table", Format::Table}, {"json", Format::Json}, {"csv", Format::Csv}},
                          "output format: table to read, json or csv for programs");
}

std::string renderText(const Table& table, int indent, int maxWidth) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> titles;
  for (const Column& column : table.columns)
    titles.push_back(column.title);
  lines.push_back(std::move(titles));
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < row.size(); ++i)
      cells.push_back(humanCell(row[i], table.columns[i].kind));
    lines.push_back(std::move(cells));
  }
  std::vector<int> widths(table.columns.size(), 0);
  for (const auto& cells : lines)
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], widthOf(cells[i]));
  if (maxWidth > 0)
    narrow(lines, table.columns, maxWidth - indent, widths);
  std::string text;
  for (const auto& cells : lines) {
    const std::string line = std::string(static_cast<std::size_t>(indent), ' ') +
                             alignedLine(cells, table.columns, widths);
    text += (maxWidth > 0 ? cutTo(line, maxWidth) : line) + "\n";
  }
  return text;
}

std::string renderCsv(const Table& table) {
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    text += (i == 0 ? "" : ",") + csvText(Cell(table.columns[i].key));
  text += "\r\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      text += (i == 0 ? "" : ",") + csvText(row[i]);
    text += "\r\n";
  }
  return text;
}

json cellAsJson(const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell))
    return *integer;
  if (const auto* real = std::get_if<double>(&cell))
    return std::isfinite(*real) ? json(*real) : json(nullptr);
  if (const auto* text = std::get_if<std::string>(&cell))
    return *text;
  if (const auto* blob = std::get_if<Blob>(&cell))
    return hexOf(*blob);
  return nullptr;
}

json rowsAsObjects(const Table& table) {
  json rows = json::array();
  for (const auto& row : table.rows) {
    json object = json::object();
    for (std::size_t i = 0; i < row.size(); ++i)
      object[table.columns[i].key] = cellAsJson(row[i]);
    rows.push_back(std::move(object));
  }
  return rows;
}

std::string dumpJson(const json& value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string humanDuration(std::int64_t nanoseconds) {
  const double magnitude = std::abs(static_cast<double>(nanoseconds));
  const auto value = static_cast<double>(nanoseconds);
  if (magnitude < 1e3)
    return fmt::format("{} ns", nanoseconds);
  if (magnitude < 999.5e3)
    return fmt::format("{:.3g} µs", value / 1e3);
  if (magnitude < 999.5e6)
    return fmt::format("{:.3g} ms", value / 1e6);
  if (magnitude < 600e9)
    return fmt::format("{:.3g} s", value / 1e9);
  const std::int64_t seconds = nanoseconds / 1'000'000'000;
  return fmt::format(
      "{}:{:02}:{:02}", seconds / 3600, std::abs(seconds / 60 % 60), std::abs(seconds % 60));
}

std::string humanBytes(std::int64_t bytes) {
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes);
  if (std::abs(value) < 1024)
    return fmt::format("{} B", bytes);
  std::size_t unit = 0;
  for (value /= 1024; std::abs(value) >= 1023.95 && unit + 1 < std::size(kUnits); ++unit)
    value /= 1024;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string humanCount(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  const std::size_t first = digits[0] == '-' ? 1 : 0;
  for (std::size_t place = digits.size(); place > first + 3;) {
    place -= 3;
    digits.insert(place, ",");
  }
  return digits;
}

std::string humanFraction(double fraction) {
  return std::isfinite(fraction) ? fmt::format("{:.1f} %", fraction * 100) : "-";
}

namespace {

// The size in bytes of the first `count` characters.
std::size_t bytesOf(const std::string& text, int count) {
  std::size_t end = 0;
  for (int kept = 0; end < text.size(); ++end)
    if (!isContinuation(text[end]) && kept++ == count)
      break;
  return end;
}

}  // namespace

std::string cutTo(const std::string& text, int width) {
  return widthOf(text) <= width ? text : text.substr(0, bytesOf(text, width - 1)) + "…";
}

std::string cutInside(const std::string& text, int width) {
  const int all = widthOf(text);
  if (all <= width)
    return text;
  const int last = (width - 1) / 2;
  return text.substr(0, bytesOf(text, width - 1 - last)) + "…" +
         text.substr(bytesOf(text, all - last));
}

}  // namespace sonde::cli
