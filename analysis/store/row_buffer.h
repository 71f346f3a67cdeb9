// Rows of one table that wait to be stored together: SQLite takes them from a virtual table in one
// step, which costs it half as much a row as one INSERT each. Within analysis/store; one thread;
// goes before its Database does.
//
// A row is given value by value, in the order of the columns, then ended:
//   rows.integer(7); rows.text("step"); SONDE_TRY(rows.endRow());
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace sonde::store {

class RowBuffer {
 public:
  // `verb`: "INSERT" or "INSERT OR REPLACE". `columns`: their names, with commas. Requires: no
  // other RowBuffer for the table on that connection.
  static Result<RowBuffer> open(Database& database,
                                std::string_view verb,
                                std::string_view table,
                                std::string_view columns);

  RowBuffer(RowBuffer&&) noexcept;
  RowBuffer& operator=(RowBuffer&&) = delete;
  ~RowBuffer();  // drops what waits

  void null();
  void integer(std::int64_t value);
  void real(double value);            // NaN becomes NULL
  void text(std::string_view value);  // copied

  // Stores what waits, once that is enough.
  Result<void> endRow();
  // Stores what waits. After an error nothing waits any more, and a part of it may be stored: the
  // transaction has to be rolled back.
  Result<void> flush();
  void clear() noexcept;  // drops what waits

 private:
  struct Rows;  // what waits, as SQLite reads it: at one address for its virtual table
  struct RowTable;
  RowBuffer(std::unique_ptr<Rows> rows, Statement insert) noexcept;

  std::unique_ptr<Rows> rows_;
  Statement insert_;  // goes before the virtual table it reads does
};

}  // namespace sonde::store
