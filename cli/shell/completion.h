// Completion scripts for shells, from the verbs' declarations. Free functions; any thread.
#pragma once

#include "cli/shell/declaration.h"

#include <string>
#include <vector>

namespace sonde::cli {

std::string bashCompletion(const std::vector<Declaration>& verbs);
std::string zshCompletion(const std::vector<Declaration>& verbs);
std::string fishCompletion(const std::vector<Declaration>& verbs);

}  // namespace sonde::cli
