// Reads one table of an export in row order, and checks the type of every value.
//
// Memory does not grow with the table. Row numbers must increase, so reading ends even if the pages
// of a damaged file form a circle. Owned by one importer, on one thread.
#pragma once

#include "analysis/ingest/import/imported_file.h"
#include "analysis/ingest/nsight/nsight_file.h"
#include "analysis/model/place.h"
#include "analysis/store/statement.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace sonde::ingest {

class NsightTable {
 public:
  enum class Type : std::uint8_t { Integer, Real, Text };
  struct Column {
    std::string_view name;
    Type type = Type::Integer;
    bool required = false;
  };

  // Unset: the table does not exist, or lacks a required column (recorded in `account`). Requires:
  // `file`, `columns` and `account` outlive it.
  static Result<std::optional<NsightTable>> open(const NsightFile& file,
                                                 std::string_view name,
                                                 std::span<const Column> columns,
                                                 ImportedFile& account);

  // Moves to the next row in which all required values exist and have their type; counts others as
  // unreadable. An optional value of another type reads as unset and is counted, too. False: no
  // more rows, or the file is damaged here (recorded in `account`).
  Result<bool> next();

  // `column`: index in `columns`. Unset: NULL, or the file lacks the column.
  model::OptionalInt integer(std::size_t column) const;
  std::optional<double> real(std::size_t column) const;
  std::optional<std::string_view> text(std::size_t column) const;  // until next()
  std::int64_t row() const noexcept { return row_; }
  std::string_view name() const noexcept { return name_; }

 private:
  NsightTable(std::string_view name,
              std::span<const Column> columns,
              store::Statement rows,
              ImportedFile& account,
              const NsightFile& file);

  bool isGood(std::size_t column);
  void complain(std::size_t column, std::string_view what);
  void cutShort(std::string_view why);
  int place(std::size_t column) const noexcept { return static_cast<int>(column) + 1; }

  std::string name_;
  std::span<const Column> columns_;
  store::Statement rows_;
  ImportedFile* account_;
  const NsightFile* file_;
  std::optional<std::int64_t> last_;
  std::int64_t row_ = 0;
  std::uint64_t bad_ = 0;  // one bit for each column with an unreadable value
};

// Calls `row(table)` for every readable row.
template <typename Row>
Result<void> forEachRow(std::optional<NsightTable> table, const Row& row) {
  if (!table)
    return {};
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, table->next());
    if (!more)
      return {};
    SONDE_TRY(row(std::as_const(*table)));
  }
}

}  // namespace sonde::ingest
