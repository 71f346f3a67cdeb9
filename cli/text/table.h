// A table with three output formats: aligned for a person, JSON and CSV for programs. A person sees
// 12.3 ms, 4.0 MiB and 37.5 %; programs get the integer of nanoseconds or bytes and the fraction.
// Plain values: no thread rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace CLI {
class App;
}

namespace sonde::cli {

enum class Format { Table, Json, Csv };

// Adds `--format table|json|csv` to a verb.
void addFormatOption(CLI::App& app, Format& format);

// Number: as stored, without separators. All kinds of numbers are right-aligned.
enum class ColumnKind { Text, Number, Integer, Real, DurationNs, Bytes, Fraction };

struct Column {
  std::string key;    // in JSON objects and the CSV header
  std::string title;  // above the column for a person
  ColumnKind kind = ColumnKind::Text;
};

struct Blob {
  std::string bytes;
};

using Cell = std::variant<std::monostate, std::int64_t, double, std::string, Blob>;

template <typename T>
Cell orNone(const std::optional<T>& value) {
  return value ? Cell(*value) : Cell();
}

// The rank of a row.
inline Column rankColumn() {
  return {"rank", "rank", ColumnKind::Number};
}

inline Column textColumn(const char* key, const char* title) {
  return {key, title, ColumnKind::Text};
}
inline Column countColumn(const char* key, const char* title) {
  return {key, title, ColumnKind::Integer};
}
inline Column bytesColumn(const char* key, const char* title) {
  return {key, title, ColumnKind::Bytes};
}
inline Column durationColumn(const char* key, const char* title) {
  return {key, title, ColumnKind::DurationNs};
}
inline Column shareColumn(const char* key, const char* title) {
  return {key, title, ColumnKind::Fraction};
}
inline Column realColumn(const char* key, const char* title) {
  return {key, title, ColumnKind::Real};
}

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // each as long as `columns`
};

// As a person reads it in a column of that kind: "12.3 ms"; "-" without a value.
std::string humanCell(const Cell& cell, ColumnKind kind);

// Aligned columns, numbers to the right, a header line. Each line is indented by `indent` and has
// at most `maxWidth` characters (0: any width). If needed, the widest text column is shortened,
// then the line is cut; `…` marks both.
std::string renderText(const Table& table, int indent = 0, int maxWidth = 0);
// RFC 4180, with a header line. Null is empty, a blob is hexadecimal.
std::string renderCsv(const Table& table);
// An array with one object per row, keyed by Column::key.
nlohmann::json rowsAsObjects(const Table& table);
// A cell as JSON; a blob as hexadecimal text, a non-finite double as null.
nlohmann::json cellAsJson(const Cell& cell);

// JSON text for output: two-space indent, invalid UTF-8 replaced, a final newline.
std::string dumpJson(const nlohmann::json& value);

// Replaces each control character with a space.
std::string oneLine(std::string text);

std::string humanDuration(std::int64_t nanoseconds);
std::string humanBytes(std::int64_t bytes);
std::string humanCount(std::int64_t count);
std::string humanFraction(double fraction);

// `text` cut to `width` characters (not bytes); the last one is `…` if it was cut.
std::string cutTo(const std::string& text, int width);
// The same with `…` in the middle, for names with equal beginnings.
std::string cutInside(const std::string& text, int width);

}  // namespace sonde::cli
