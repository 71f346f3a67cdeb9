// Man pages in roff, from the verbs' declarations. Free functions; any thread.
#pragma once

#include "cli/shell/declaration.h"

#include <string>
#include <vector>

namespace sonde::cli {

// sonde-VERB(1).
std::string manPage(const Declaration& verb);

// sonde(1), which lists the verbs.
std::string manOverview(const std::vector<Declaration>& verbs);

}  // namespace sonde::cli
