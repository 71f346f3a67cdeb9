// Rows of one table that wait to be stored together. SQLite takes them from a virtual table in one
// step, which costs half as much per row as single INSERTs. Within analysis/store; one thread; must
// be destroyed before its Database.
//
// Add a row value by value, in column order, then end it:
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
  // `verb`: "INSERT" or "INSERT OR REPLACE". `columns`: comma-separated names. Requires: no other
  // RowBuffer for the table on that connection.
  static Result<RowBuffer> open(Database& database,
                                std::string_view verb,
                                std::string_view table,
                                std::string_view columns);

  RowBuffer(RowBuffer&&) noexcept;
  RowBuffer& operator=(RowBuffer&&) = delete;
  ~RowBuffer();  // drops waiting rows

  void null();
  void integer(std::int64_t value);
  void real(double value);            // NaN becomes NULL
  void text(std::string_view value);  // copied

  // Stores the waiting rows if there are enough.
  Result<void> endRow();
  // Stores the waiting rows. After an error none wait any more and some may be stored: the
  // transaction must be rolled back.
  Result<void> flush();
  void clear() noexcept;  // drops waiting rows

 private:
  struct Rows;  // the waiting rows as SQLite reads them; their address must not change
  struct RowTable;
  RowBuffer(std::unique_ptr<Rows> rows, Statement insert) noexcept;

  std::unique_ptr<Rows> rows_;
  Statement insert_;  // destroyed before the virtual table it reads
};

}  // namespace sonde::store
