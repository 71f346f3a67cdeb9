// Scopes that cross threads: a thread without an open annotation works for another thread, in its
// backward pass or after a hand-off. Within analysis/finalise; the thread of the database.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::store {

// A slice without a scope inherits one, with scope_how 'inherited', by the first rule that applies:
// 1. Another thread of its process is inside a `backward` slice when it starts. It gets the
//    innermost scope open there; of several threads, the one whose backward began last counts.
// 2. Its thread is autograd's. It gets the innermost scope of the thread that called the backward
//    pass (autograd_callers.h).
// 3. Hand-offs were recorded and its thread has no scopes. It gets the scope of the thread that
//    certainly ended its last wait for work (handed_work.h), at that time; if that thread has none,
//    the same rules apply to it.
//
// Backward slices do not inherit. Neither does an outermost wait of category "sync", since it works
// for nobody; waits for a lock do, except for Python's interpreter lock. Launched work has the
// launching slice's scope. Requires: a transaction and slice_by_line.
Result<void> inheritScopes(Database& trace);

}  // namespace sonde::store
