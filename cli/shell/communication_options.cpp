#include "cli/shell/communication_options.h"

#include "analysis/store/communication_kernels.h"
#include "rules/configuration/configuration.h"

#include <algorithm>

#include <CLI/CLI.hpp>

namespace sonde::cli {

void addCommunicationOptions(CLI::App& app, CommunicationOptions& options) {
  app.add_option(
         "--communication",
         options.patterns,
         "also count kernels with matching names as communication ('*': any text); repeatable")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  app.add_option(
         "--config", options.config, "read such patterns from [communication] in this sonde.toml")
      ->type_name("FILE");
}

Result<std::vector<std::string>> communicationPatterns(const CommunicationOptions& options) {
  std::vector<std::string> patterns = options.patterns;
  if (std::any_of(patterns.begin(), patterns.end(), [](const auto& each) { return each.empty(); }))
    return Error{ErrorCode::InvalidArgument,
                 "--communication '' names no kernel: give a pattern such as 'my_allreduce*'"};
  if (options.config.empty())
    return patterns;
  SONDE_TRY_ASSIGN(const auto more, rules::readCommunication(options.config));
  patterns.insert(patterns.end(), more.begin(), more.end());
  return patterns;
}

Result<void> applyCommunication(const CommunicationOptions& options, store::Database& trace) {
  SONDE_TRY_ASSIGN(const auto patterns, communicationPatterns(options));
  return store::addCommunicationPatterns(trace, patterns);
}

}  // namespace sonde::cli
