// The values of `--module-category`: the category of a Python module's native code. Plain
// functions; any thread.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace sonde::recorder {

// Converts NAME=CATEGORY items to the value of SONDE_MODULE_CATEGORIES, which plugins/python/sonde
// reads. InvalidArgument: not a module name, or not a category; the message lists the categories.
Result<std::string> moduleCategories(const std::vector<std::string>& items);

}  // namespace sonde::recorder
