// The answer to a question about a job, and the optimiser's plan, as tables and bars for the
// what-if view: the values of `sonde whatif` and `sonde optimize`. Plain values; any thread.
#pragma once

#include "analysis/engine/critical/path_cause.h"
#include "analysis/engine/optimise/plan.h"
#include "analysis/engine/whatif/answer.h"
#include "gui/models/table/value_table.h"
#include "gui/models/whatif/question_form.h"

#include <QString>
#include <QStringList>

#include <vector>

namespace sonde::gui {

// "61.2 ms instead of 74.3 ms: 1.21 times as fast".
[[nodiscard]] QString headlineOf(const engine::whatif::Answer& answer);
// The interval, where the durations come from, and what the answer assumes. One sentence each.
[[nodiscard]] QStringList remarksOf(const engine::whatif::Answer& answer);

// A cause of the critical paths, in ns of a mean iteration.
struct CauseTime {
  engine::critical::PathCause cause = engine::critical::PathCause::Host;
  double nowNs = 0;
  double thenNs = 0;
};
// Their sums are the baseline and the predicted time.
[[nodiscard]] std::vector<CauseTime> causeTimes(const engine::whatif::Answer& answer);

// The parts of the critical paths now and then; those that differ most come first.
[[nodiscard]] std::vector<ValueColumn> changedPathColumns();
[[nodiscard]] std::vector<ValueRow> changedPathRows(const engine::whatif::Answer& answer);

// A change that the optimiser tried.
struct TriedChange {
  AskedChange change;
  bool isInPlan = false;
};
[[nodiscard]] std::vector<ValueColumn> planColumns();
// The changes of the plan, then the best of other families. `tried` gets those of the rows.
[[nodiscard]] std::vector<ValueRow> planRows(const engine::optimise::Plan& plan,
                                             std::vector<TriedChange>& tried);
// A sentence about the whole plan, and one for each question that was not tried.
[[nodiscard]] QString planText(const engine::optimise::Plan& plan);
[[nodiscard]] QStringList leftOutTexts(const engine::optimise::Plan& plan);

}  // namespace sonde::gui
