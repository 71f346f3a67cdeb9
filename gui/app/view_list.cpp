#include "gui/app/view_list.h"

#include "gui/views/breakdown/breakdown_view.h"
#include "gui/views/compare/compare_view.h"
#include "gui/views/findings/findings_view.h"
#include "gui/views/flame/flame_view.h"
#include "gui/views/graph/graph_view.h"
#include "gui/views/memory/memory_view.h"
#include "gui/views/network/network_view.h"
#include "gui/views/overview/overview_view.h"
#include "gui/views/ranks/ranks_view.h"
#include "gui/views/roofline/roofline_view.h"
#include "gui/views/sql/sql_view.h"
#include "gui/views/system/system_view.h"
#include "gui/views/tables/tables_view.h"
#include "gui/views/training/training_view.h"
#include "gui/views/whatif/whatif_view.h"

#include <QStringList>

#include <algorithm>
#include <iterator>

namespace sonde::gui {
namespace {

template <typename View>
Panel* make(TraceModels& models) {
  return new View(models);
}

constexpr ViewInfo kViews[] = {
    {"overview", "Overview", "what the job did, and where to look", make<OverviewView>},
    {"timeline", "Timeline", "every event, on one clock", nullptr},
    {"breakdown",
     "Breakdown",
     "where the time went, by operation, rank or iteration",
     make<BreakdownView>},
    {"flame", "Flame graph", "where the time went, by path of calls", make<FlameView>},
    {"ranks", "Ranks", "all iterations of all ranks, and who is slow", make<RanksView>},
    {"graph", "Critical path", "what holds the iterations up, part by part", make<GraphView>},
    {"whatif",
     "What if",
     "how long an iteration would take with other settings, and which are best",
     make<WhatifView>},
    {"findings",
     "Findings",
     "the verdicts of all rules, with evidence and advice",
     make<FindingsView>},
    {"tables", "Tables", "kernels, copies, calls and ranges in sum", make<TablesView>},
    {"network", "Network", "who sends how much to whom, and the collectives", make<NetworkView>},
    {"roofline",
     "Roofline",
     "how near kernels come to the limits of their device",
     make<RooflineView>},
    {"training",
     "Training",
     "losses and tensors over the iterations, lined up with their time",
     make<TrainingView>},
    {"system", "System", "the use of machines and devices over time, and energy", make<SystemView>},
    {"memory", "Memory", "who holds memory, over time and at the peak", make<MemoryView>},
    {"compare", "Compare", "what got slower or faster than in an earlier run", make<CompareView>},
    {"sql", "SQL", "SELECT statements over the views of the trace", make<SqlView>},
};

}  // namespace

std::span<const ViewInfo> views() {
  return kViews;
}

const ViewInfo* viewOf(const QString& word) {
  const auto* const found =
      std::find_if(std::begin(kViews), std::end(kViews), [&](const auto& each) {
        return word == QLatin1String(each.word);
      });
  return found == std::end(kViews) ? nullptr : found;
}

QString viewWords() {
  QStringList words;
  for (const ViewInfo& view : kViews)
    words << QLatin1String(view.word);
  return words.join(QStringLiteral(", "));
}

}  // namespace sonde::gui
