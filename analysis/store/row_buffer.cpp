#include "analysis/store/row_buffer.h"

#include "analysis/store/sqlite_error.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

namespace sonde::store {
namespace {

constexpr std::size_t kEnoughRows = 256;
constexpr std::size_t kEnoughTextBytes = std::size_t{1} << 20;

enum class CellType : std::uint8_t { Null, Integer, Real, Text };

struct Cell {
  CellType type = CellType::Null;
  std::uint32_t bytes = 0;  // of a text
  union {
    std::int64_t integer = 0;  // of a text: its offset
    double real;
  };
};

}  // namespace

struct RowBuffer::Rows {
  sqlite3* database = nullptr;
  std::string table;
  std::string module;       // the virtual table's name
  std::string declaration;  // the virtual table as SQL
  std::size_t columns = 0;
  std::size_t count = 0;
  std::vector<Cell> cells;  // columns of the first row, of the second, …
  std::string texts;

  Rows() = default;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() {
    if (database != nullptr)
      sqlite3_create_module_v2(database, module.c_str(), nullptr, nullptr, nullptr);
  }
};

// The virtual table. SQLite's objects must begin with SQLite's base struct. SQLite's C frames lie
// between these functions and ours, so nothing may throw.
struct RowBuffer::RowTable {
  struct Table : sqlite3_vtab {
    const Rows* rows;
  };
  struct Cursor : sqlite3_vtab_cursor {
    std::size_t row;
  };

  static const Rows& rowsOf(sqlite3_vtab_cursor* cursor) noexcept {
    return *static_cast<Table*>(cursor->pVtab)->rows;
  }
  static std::size_t& at(sqlite3_vtab_cursor* cursor) noexcept {
    return static_cast<Cursor*>(cursor)->row;
  }

  // NOLINTNEXTLINE(readability-function-size): SQLite defines the parameters
  static int connect(sqlite3* database,
                     void* rows,
                     int /*argc*/,
                     const char* const* /*argv*/,
                     sqlite3_vtab** made,
                     char** /*message*/) {
    const auto* of = static_cast<const Rows*>(rows);
    if (const int code = sqlite3_declare_vtab(database, of->declaration.c_str()); code != SQLITE_OK)
      return code;
    *made = new (std::nothrow) Table{{}, of};
    return *made == nullptr ? SQLITE_NOMEM : SQLITE_OK;
  }
  static int disconnect(sqlite3_vtab* table) {
    delete static_cast<Table*>(table);
    return SQLITE_OK;
  }
  static int bestIndex(sqlite3_vtab* /*table*/, sqlite3_index_info* /*info*/) { return SQLITE_OK; }
  static int open(sqlite3_vtab* /*table*/, sqlite3_vtab_cursor** made) {
    *made = new (std::nothrow) Cursor{};
    return *made == nullptr ? SQLITE_NOMEM : SQLITE_OK;
  }
  static int close(sqlite3_vtab_cursor* cursor) {
    delete static_cast<Cursor*>(cursor);
    return SQLITE_OK;
  }
  static int filter(sqlite3_vtab_cursor* cursor,
                    int /*index*/,
                    const char* /*name*/,
                    int /*argc*/,
                    sqlite3_value** /*argv*/) {
    at(cursor) = 0;
    return SQLITE_OK;
  }
  static int next(sqlite3_vtab_cursor* cursor) {
    ++at(cursor);
    return SQLITE_OK;
  }
  static int eof(sqlite3_vtab_cursor* cursor) { return at(cursor) >= rowsOf(cursor).count; }
  static int column(sqlite3_vtab_cursor* cursor, sqlite3_context* result, int index) {
    const Rows& rows = rowsOf(cursor);
    const Cell& cell = rows.cells[at(cursor) * rows.columns + static_cast<std::size_t>(index)];
    switch (cell.type) {
      case CellType::Null:
        break;  // the default result
      case CellType::Integer:
        sqlite3_result_int64(result, cell.integer);
        break;
      case CellType::Real:
        sqlite3_result_double(result, cell.real);
        break;
      case CellType::Text:
        sqlite3_result_text64(
            result, rows.texts.data() + cell.integer, cell.bytes, SQLITE_STATIC, SQLITE_UTF8);
        break;
    }
    return SQLITE_OK;
  }
  static int rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
    *id = static_cast<sqlite3_int64>(at(cursor));
    return SQLITE_OK;
  }

  // Without xCreate the table exists under the module's name at once, and is in no schema.
  static constexpr sqlite3_module module() noexcept {
    sqlite3_module made{};
    made.xConnect = connect;
    made.xBestIndex = bestIndex;
    made.xDisconnect = disconnect;
    made.xOpen = open;
    made.xClose = close;
    made.xFilter = filter;
    made.xNext = next;
    made.xEof = eof;
    made.xColumn = column;
    made.xRowid = rowid;
    return made;
  }
};

RowBuffer::RowBuffer(std::unique_ptr<Rows> rows, Statement insert) noexcept
    : rows_(std::move(rows)), insert_(std::move(insert)) {}
RowBuffer::RowBuffer(RowBuffer&&) noexcept = default;
RowBuffer::~RowBuffer() = default;

Result<RowBuffer> RowBuffer::open(Database& database,
                                  std::string_view verb,
                                  std::string_view table,
                                  std::string_view columns) {
  static constexpr sqlite3_module kModule = RowTable::module();
  auto rows = std::make_unique<Rows>();
  rows->table = table;
  rows->module = fmt::format("new_{}", table);
  rows->declaration = fmt::format("CREATE TABLE rows({})", columns);
  rows->columns = static_cast<std::size_t>(std::count(columns.begin(), columns.end(), ',')) + 1;
  rows->database = database.handle();
  const int code =
      sqlite3_create_module_v2(rows->database, rows->module.c_str(), &kModule, rows.get(), nullptr);
  if (code != SQLITE_OK)
    return errorOf(rows->database, code);
  SONDE_TRY_ASSIGN(Statement insert,
                   database.prepare(fmt::format(
                       "{} INTO {}({}) SELECT * FROM {}", verb, table, columns, rows->module)));
  return RowBuffer(std::move(rows), std::move(insert));
}

void RowBuffer::null() {
  rows_->cells.emplace_back();
}

void RowBuffer::integer(std::int64_t value) {
  Cell& cell = rows_->cells.emplace_back();
  cell.type = CellType::Integer;
  cell.integer = value;
}

void RowBuffer::real(double value) {
  Cell& cell = rows_->cells.emplace_back();
  cell.type = CellType::Real;
  cell.real = value;
}

void RowBuffer::text(std::string_view value) {
  Cell& cell = rows_->cells.emplace_back();
  cell.type = CellType::Text;
  cell.bytes = static_cast<std::uint32_t>(value.size());
  cell.integer = static_cast<std::int64_t>(rows_->texts.size());
  rows_->texts.append(value);
}

Result<void> RowBuffer::endRow() {
  if (++rows_->count < kEnoughRows && rows_->texts.size() < kEnoughTextBytes)
    return {};
  return flush();
}

Result<void> RowBuffer::flush() {
  if (rows_->count == 0)
    return {};
  const auto stored = insert_.run();
  clear();
  if (stored)
    return {};
  Error error = errorOf(rows_->database, sqlite3_extended_errcode(rows_->database));
  error.message = fmt::format("cannot store rows of '{}': {}", rows_->table, error.message);
  return error;
}

void RowBuffer::clear() noexcept {
  rows_->count = 0;
  rows_->cells.clear();
  rows_->texts.clear();
}

}  // namespace sonde::store
