// The values of `--module-category`: whose native code a Python module has. Plain functions; any
// thread.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace sonde::recorder {

// Of NAME=CATEGORY items, the value of SONDE_MODULE_CATEGORIES, which plugins/python/sonde reads.
// InvalidArgument: no name of a module, or no category; the message says what there is.
Result<std::string> moduleCategories(const std::vector<std::string>& items);

}  // namespace sonde::recorder
