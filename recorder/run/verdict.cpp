#include "recorder/run/verdict.h"

#include "analysis/store/communication_kernels.h"
#include "analysis/store/trace_file.h"
#include "rules/reporters/reporters.h"

#include <sstream>
#include <string>

namespace sonde::recorder {
namespace {

Result<rules::CheckReport> checkTrace(const std::filesystem::path& path,
                                      const rules::Configuration& configuration) {
  SONDE_TRY_ASSIGN(store::Database trace, store::openTrace(path));
  SONDE_TRY(store::addCommunicationPatterns(trace, configuration.communication));
  return rules::check(trace, configuration);
}

}  // namespace

void sayVerdict(const std::filesystem::path& trace,
                const rules::Configuration& configuration,
                const Say& say) {
  const auto report = checkTrace(trace, configuration);
  if (!report) {
    say(report.error().message);
    return;
  }
  std::istringstream lines(rules::renderText(*report));
  std::string line;
  while (std::getline(lines, line)) {
    if (!line.empty())
      say(line);
  }
}

}  // namespace sonde::recorder
