// What an SQLite result code means for a caller. Within analysis/store; any thread.
#pragma once

#include "analysis/base/result.h"

namespace sonde::store {

ErrorCode errorCodeOf(int sqliteCode) noexcept;

}  // namespace sonde::store
