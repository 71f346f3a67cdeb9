// The numbers of a job in the overview: those of `sonde report` and `sonde check`, as tables.
// Plain values; reading uses the database's thread.
#pragma once

#include "analysis/engine/report/report.h"
#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/models/table/value_table.h"
#include "gui/models/trace_models.h"
#include "gui/trace/trace_data.h"
#include "rules/engine/check.h"

#include <QString>
#include <QStringList>

#include <functional>
#include <memory>
#include <vector>

namespace sonde::gui {

// As `sonde report`: corrected for the cost of recording where it is known.
[[nodiscard]] Result<engine::report::JobReport> readJobReport(const store::Database& trace);
// As `sonde report --raw`.
[[nodiscard]] Result<engine::report::JobReport> readRawJobReport(const store::Database& trace);
// A query for Analyses::ask() with the one of both that the window shows.
using SharedReport = std::shared_ptr<const engine::report::JobReport>;
[[nodiscard]] std::function<Result<SharedReport>(const std::shared_ptr<const store::Database>&)>
reportQuery(TraceModels& models);

// All rules, with their defaults, as `sonde check`.
[[nodiscard]] Result<rules::CheckReport> readFindings(const store::Database& trace);

// The command that all ranks ran. If they differ, as they may in files of other profilers, the
// names of the trace's files; also for a program without arguments, which says less.
[[nodiscard]] QString jobTitle(const engine::report::JobReport& report,
                               const Skeleton& skeleton,
                               const QStringList& paths);

// "2 ranks on 1 host · 120 iterations · 12.3 s · 1.2 million events".
[[nodiscard]] QString factsLine(const engine::report::JobReport& report);

// Parts of a rank's time, in the order of rankTimes().
[[nodiscard]] QStringList rankTimeParts();
struct RankBar {
  QString label;
  std::vector<double> ns;  // by part; only one value if computing is unknown
  std::optional<std::int64_t> rank;
};
[[nodiscard]] std::vector<RankBar> rankTimes(const engine::report::JobReport& report);

[[nodiscard]] std::vector<ValueColumn> operationColumns();
[[nodiscard]] std::vector<ValueRow> operationRows(const engine::report::JobReport& report);

[[nodiscard]] std::vector<ValueColumn> pathColumns();
[[nodiscard]] std::vector<ValueRow> pathRows(const engine::report::JobReport& report);

// Findings that fired or could not be evaluated, the most severe first.
[[nodiscard]] std::vector<ValueColumn> findingColumns();
[[nodiscard]] std::vector<ValueRow> findingRows(const rules::CheckReport& check);

// Stalls, changes, warnings and lost records, each in a sentence.
[[nodiscard]] std::vector<ValueColumn> noteColumns();
[[nodiscard]] std::vector<ValueRow> noteRows(const engine::report::JobReport& report);

}  // namespace sonde::gui
