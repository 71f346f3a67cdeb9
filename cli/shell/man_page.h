// Man pages in roff, from what the verbs declare. Free functions; any thread.
#pragma once

#include "cli/shell/declaration.h"

#include <string>
#include <vector>

namespace sonde::cli {

// sonde-VERB(1).
std::string manPage(const Declaration& verb);

// sonde(1), which lists them.
std::string manOverview(const std::vector<Declaration>& verbs);

}  // namespace sonde::cli
