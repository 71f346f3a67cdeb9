// Reads one table of an export in the order of its rows, and checks the type of every value.
//
// Memory does not grow with the table. Row numbers have to grow, so a damaged file whose pages form
// a circle ends. Owned by one importer, on one thread.
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

  // None: the table is not there, or (then `account` says so) without a column that is required.
  // Requires: `file`, `columns` and `account` outlive it.
  static Result<std::optional<NsightTable>> open(const NsightFile& file,
                                                 std::string_view name,
                                                 std::span<const Column> columns,
                                                 ImportedFile& account);

  // The next row in which all required values are there and of their type; others are counted as
  // unreadable. A value that is not required and of another type reads as none and is counted, too.
  // False: there are no more, or (then `account` says so) the file is damaged here.
  Result<bool> next();

  // By the place of the column in `columns`; none: NULL, or no such column in this file.
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
  std::uint64_t bad_ = 0;  // a bit for each column whose value is not read
};

// Calls `row(table)` for every row that can be read.
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
