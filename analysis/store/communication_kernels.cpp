#include "analysis/store/communication_kernels.h"

#include "analysis/model/communication_names.h"
#include "analysis/store/each_row.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::store {

Result<CommunicationKernels> CommunicationKernels::read(const Database& trace) {
  CommunicationKernels kernels;
  const auto take = [&](const Statement& row) -> Result<void> {
    kernels.patterns_.emplace_back(row.text(0));
    return {};
  };
  SONDE_TRY(forEachRow(trace,
                       fmt::format("SELECT substr(key, {}) FROM meta WHERE key GLOB '{}*'",
                                   kCommunicationMeta.size() + 1,
                                   kCommunicationMeta),
                       take));
  SONDE_TRY_ASSIGN(const std::int64_t given,
                   trace.queryInteger("SELECT count(*) FROM sqlite_temp_schema WHERE name = "
                                      "'communication_pattern'"));
  if (given > 0)
    SONDE_TRY(forEachRow(trace, "SELECT pattern FROM temp.communication_pattern", take));
  return kernels;
}

bool CommunicationKernels::holds(std::string_view kernelName) const {
  if (model::isCommunicationKernel(kernelName))
    return true;
  if (patterns_.empty())
    return false;
  const std::string function = model::functionOfKernel(kernelName);
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& pattern) {
    return model::fitsPattern(pattern, kernelName) || model::fitsPattern(pattern, function);
  });
}

Result<void> addCommunicationPatterns(Database& trace, const std::vector<std::string>& patterns) {
  if (patterns.empty())
    return {};
  SONDE_TRY(trace.exec("CREATE TEMP TABLE IF NOT EXISTS communication_pattern(pattern TEXT)"));
  SONDE_TRY_ASSIGN(Statement add,
                   trace.prepare("INSERT INTO temp.communication_pattern VALUES (?1)"));
  for (const std::string& pattern : patterns)
    SONDE_TRY(add.bindAll(std::string_view(pattern)).run());
  return {};
}

}  // namespace sonde::store
