// The option --time FROM..TO of verbs that can look at a part of a trace. Plain functions; reading
// uses the database's thread.
#pragma once

#include "analysis/engine/intervals/intervals.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "base/text/time_span.h"

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace sonde::cli {

void addTimeOption(CLI::App& app, std::string& time, const std::string& purpose);

// Since the begin of the trace; nullopt: the option was not given. InvalidArgument: it is not a
// range.
Result<std::optional<TimeRange>> readTime(const std::string& time);
// In job time.
Result<std::optional<engine::metrics::Interval>> readTimeOf(const std::string& time,
                                                            const store::Database& trace);

}  // namespace sonde::cli
