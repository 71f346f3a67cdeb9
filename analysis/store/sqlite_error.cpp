#include "analysis/store/sqlite_error.h"

#include <sqlite3.h>

#include <cerrno>
#include <system_error>

namespace sonde::store {

namespace {

// The system's reason for refusing a call of SQLite. sqlite3_system_errno() does not have it after
// a COMMIT, and the file objects do not have it for the log's index.
int systemErrno(sqlite3* handle) {
  for (const int which : {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER}) {
    sqlite3_file* file = nullptr;
    int code = 0;
    if (sqlite3_file_control(handle, "main", which, &file) == SQLITE_OK && file != nullptr &&
        file->pMethods != nullptr)
      file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &code);
    if (code != 0)
      return code;
  }
  return sqlite3_system_errno(handle);
}

}  // namespace

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
    case SQLITE_FULL:
      return ErrorCode::NoSpace;
    default:
      return ErrorCode::Io;
  }
}

// Only ENOSPC makes SQLite return SQLITE_FULL.
Error errorOf(sqlite3* handle, int sqliteCode) {
  const int system = (sqliteCode & 0xFF) == SQLITE_IOERR ? systemErrno(handle) : 0;
  if (system == EDQUOT || system == ENOSPC || system == EFBIG)
    return {ErrorCode::NoSpace, std::generic_category().message(system)};
  return {errorCodeOf(sqliteCode), sqlite3_errmsg(handle)};
}

}  // namespace sonde::store
