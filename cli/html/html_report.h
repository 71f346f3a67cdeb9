// The report of a job as one HTML file: it needs no network, no other file and no JavaScript. Plain
// values and pure functions; reading uses the database's thread.
#pragma once

#include "analysis/engine/report/report.h"
#include "analysis/store/database.h"
#include "base/progress.h"
#include "base/result.h"
#include "rules/engine/check.h"

#include <string>
#include <vector>

namespace sonde::cli {

// A scalar of a rank, by iteration; values may be NaN.
struct ScalarCurve {
  struct Value {
    std::int64_t iteration = 0;
    double value = 0;
  };
  std::string process;  // "rank 3"
  std::string name;     // "loss"
  std::vector<Value> values;
};

// The values of a page: those of `sonde report --format json`, and of `sonde check`.
struct HtmlValues {
  engine::report::JobReport report;
  rules::CheckReport check;  // by all rules, as warnings
  std::string hardware;
  std::vector<ScalarCurve> scalars;  // by name, then by process
};

Result<HtmlValues> readHtmlValues(const store::Database& trace,
                                  engine::report::JobReport report,
                                  const Progress& progress = {});

// Well-formed as XML, too. Plots have at most kMostPlotPoints points, tables kHtmlRows rows.
std::string htmlReport(const HtmlValues& values);

inline constexpr std::size_t kHtmlRows = 15;
inline constexpr std::size_t kHtmlRanks = 16;  // bars, and rows of tables by rank

}  // namespace sonde::cli
