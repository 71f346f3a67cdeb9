#include "analysis/store/sqlite_error.h"

#include <sqlite3.h>

namespace sonde::store {

ErrorCode errorCodeOf(int sqliteCode) noexcept {
  switch (sqliteCode & 0xFF) {  // without the bits of extended codes
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::Corrupt;
    case SQLITE_ERROR:
    case SQLITE_RANGE:
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
      return ErrorCode::InvalidArgument;
    default:
      return ErrorCode::Io;
  }
}

}  // namespace sonde::store
