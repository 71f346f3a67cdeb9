// What an SQLite result code means for a caller. Within analysis/store; any thread.
#pragma once

#include "base/result.h"

struct sqlite3;

namespace sonde::store {

ErrorCode errorCodeOf(int sqliteCode) noexcept;

// Of a call on this connection that has just failed. The message is SQLite's, or the system's when
// there was no room: SQLite tells a used-up quota from a broken disk nowhere else. Requires: no
// other call on the connection since.
Error errorOf(sqlite3* handle, int sqliteCode);

}  // namespace sonde::store
