// The options of verbs that tell kernels that communicate from others: --communication PATTERN,
// --config FILE. Plain functions; applying uses the database's thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sonde::cli {

struct CommunicationOptions {
  std::vector<std::string> patterns;
  std::string config;  // sonde.toml; empty: none
};

void addCommunicationOptions(CLI::App& app, CommunicationOptions& options);

// All patterns that the options name. InvalidArgument: the file cannot be read or understood, or a
// pattern is empty.
Result<std::vector<std::string>> communicationPatterns(const CommunicationOptions& options);

// For what is read of `trace` from now on.
Result<void> applyCommunication(const CommunicationOptions& options, store::Database& trace);

}  // namespace sonde::cli
