// The options that define which kernels communicate: --communication PATTERN, --config FILE. Plain
// functions; applying uses the database's thread.
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

// All patterns from the options. InvalidArgument: the file cannot be read or parsed, or a pattern
// is empty.
Result<std::vector<std::string>> communicationPatterns(const CommunicationOptions& options);

// Applies to all later reads of `trace`.
Result<void> applyCommunication(const CommunicationOptions& options, store::Database& trace);

}  // namespace sonde::cli
