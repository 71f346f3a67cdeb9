// Scopes that cross threads: what a thread without an open annotation did for another one's
// backward pass. Within analysis/store; the thread of the database.
#pragma once

#include "analysis/base/result.h"
#include "analysis/store/database.h"

namespace sonde::store {

// A slice without a scope that starts while another thread of its process is inside a `backward`
// slice gets the innermost scope that is open there at that time (of several threads the one whose
// backward began last), and scope_how 'inherited'. Backward slices themselves inherit nothing.
// What was launched by a slice has its scope.
// Requires: a transaction and slice_by_line.
Result<void> inheritScopes(Database& trace);

}  // namespace sonde::store
