// Scopes that cross threads: what a thread without an open annotation did for another one, in its
// backward pass or because that handed it the work. Within analysis/store; the thread of the
// database.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

namespace sonde::store {

// A slice without a scope that starts while another thread of its process is inside a `backward`
// slice gets the innermost scope that is open there at that time (of several threads the one whose
// backward began last), and scope_how 'inherited'. Without such a backward, what a thread of
// autograd's does gets the innermost scope of the thread that called its backward pass
// (autograd_callers.h). Without that, where hand-offs were
// recorded, what a thread without any scopes of its own did gets the scope of the thread that
// certainly ended its last wait for work (handed_work.h), at the time when that did; if that has
// none, by the same rules. Backward slices inherit nothing, nor does a thread's wait (of category
// "sync") that lies in nothing else and is not for a lock, be it that of Python's interpreter: it
// works for nobody then. What was launched by a slice has its scope. Requires: a transaction and
// slice_by_line.
Result<void> inheritScopes(Database& trace);

}  // namespace sonde::store
