// Findings of rules for the view of them: as rows, and one in full as HTML. Plain values; any
// thread.
#pragma once

#include "gui/models/place.h"
#include "gui/models/table/value_table.h"
#include "rules/engine/check.h"

#include <QString>
#include <QUrl>

#include <vector>

namespace sonde::gui {

enum class ShownFindings { Faults, All };  // Faults: that fired or could not be evaluated

[[nodiscard]] std::vector<ValueColumn> allFindingColumns();
// The most severe first. `shown` gets the results of the rows.
[[nodiscard]] std::vector<ValueRow> allFindingRows(const rules::CheckReport& check,
                                                   ShownFindings which,
                                                   std::vector<const rules::CheckResult*>& shown);

// The time of a result, if it has one, and its rank.
[[nodiscard]] Place placeOf(const rules::CheckResult& result);

// The message, the evidence, what to do, and the rule. All texts of the trace are escaped. Commands
// that a view of the window answers are links, for viewOf().
[[nodiscard]] QString pageOf(const rules::CheckResult& result);

// A view, and what it is asked: an option of a question, a query.
struct AskedView {
  QString view;  // a word of `--view`
  QString ask;   // empty: nothing
};
// Reads such a link.
[[nodiscard]] AskedView viewOf(const QUrl& link);

}  // namespace sonde::gui
