#include "cli/shell/time_option.h"

#include <fmt/format.h>

#include <cstdint>

#include <CLI/CLI.hpp>

namespace sonde::cli {

void addTimeOption(CLI::App& app, std::string& time, const std::string& purpose) {
  app.add_option("--time", time, purpose)->type_name("FROM..TO");
}

Result<std::optional<TimeRange>> readTime(const std::string& time) {
  if (time.empty())
    return std::optional<TimeRange>();
  const auto range = parseTimeRange(time);
  if (!range)
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("--time {}: {}: give one like --time 1.2s..1.5s", time, range.error().message)};
  return std::optional(*range);
}

Result<std::optional<engine::metrics::Interval>> readTimeOf(const std::string& time,
                                                            const store::Database& trace) {
  using Range = std::optional<engine::metrics::Interval>;
  SONDE_TRY_ASSIGN(const auto range, readTime(time));
  if (!range)
    return Range();
  SONDE_TRY_ASSIGN(
      const std::int64_t origin,
      trace.queryInteger("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'origin_ns'"));
  return Range({origin + range->beginNs, origin + range->endNs});
}

}  // namespace sonde::cli
