// Converts SQLite's result codes to errors. Within analysis/store; any thread.
#pragma once

#include "base/result.h"

struct sqlite3;

namespace sonde::store {

ErrorCode errorCodeOf(int sqliteCode) noexcept;

// The error of the call on this connection that just failed. The message is SQLite's, or the
// system's if there was no room: SQLite reports an exceeded quota like a broken disk. Requires: no
// other call on the connection since.
Error errorOf(sqlite3* handle, int sqliteCode);

}  // namespace sonde::store
