#include "rules/facts/call_facts.h"

#include "analysis/engine/iterations/iterations.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace sonde::rules {
namespace {

// Kinds that the program's own steps decide, not the machine.
constexpr std::string_view kCallKinds =
    "'backward', 'checkpoint', 'data_load', 'evaluation', 'forward', 'micro_step', 'module', "
    "'operation', 'operator', 'optimizer', 'phase'";

struct IterationSliceRow {
  std::int64_t id = 0;
  std::int64_t sliceId = 0;

  SONDE_COLUMNS(id, sliceId)
};

struct EvaluationRow {
  std::int64_t id = 0;
  std::int64_t processId = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;

  SONDE_COLUMNS(id, processId, startNs, durNs)
};

struct CallRow {
  std::int64_t processId = 0;
  std::int64_t parentId = 0;
  std::int64_t startNs = 0;
  std::string_view kind;
  std::string_view name;
  std::optional<std::string> shapes;
  std::optional<std::string> dtypes;

  SONDE_COLUMNS(processId, parentId, startNs, kind, name, shapes, dtypes)
};

struct CollectiveRow {
  std::int64_t processId = 0;
  std::int64_t startNs = 0;
  std::string_view op;
  std::string_view dtype;
  std::int64_t bytes = 0;

  SONDE_COLUMNS(processId, startNs, op, dtype, bytes)
};

struct Ordered {
  std::int64_t startNs;
  std::string name;
};

struct OpenStretch {
  CallStretch calls;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  std::int64_t sliceId = 0;
  std::vector<Ordered> order;
};

using Stretches = std::vector<OpenStretch>;  // by start; they do not overlap

// The stretch that holds this time; nullptr: none.
OpenStretch* stretchAt(Stretches& all, std::int64_t ns) {
  const auto after =
      std::upper_bound(all.begin(), all.end(), ns, [](std::int64_t time, const auto& each) {
        return time < each.startNs;
      });
  if (after == all.begin() || std::prev(after)->endNs <= ns)
    return nullptr;
  return &*std::prev(after);
}

// Iterations last from the end of the one before.
void closeGaps(Stretches& iterations) {
  for (std::size_t i = 1; i < iterations.size(); ++i)
    iterations[i].startNs = std::min(iterations[i].startNs, iterations[i - 1].endNs);
}

struct ProcessStretches {
  Stretches iterations;
  Stretches evaluations;

  OpenStretch* at(std::int64_t ns) {
    OpenStretch* const evaluation = stretchAt(evaluations, ns);
    return evaluation != nullptr ? evaluation : stretchAt(iterations, ns);
  }
};

class CallReader {
 public:
  explicit CallReader(const store::Database& trace) : trace_(trace) {}

  Result<CallFacts> read() {
    SONDE_TRY(readIterations());
    SONDE_TRY(readEvaluations());
    SONDE_TRY(readCalls());
    SONDE_TRY(readCollectives());
    for (auto& [id, stretches] : stretches_)
      finish(stretches, facts_.processes[id]);
    return std::move(facts_);
  }

 private:
  Result<void> readIterations() {
    std::unordered_map<std::int64_t, std::int64_t> slices;
    SONDE_TRY(store::forEach<IterationSliceRow>(
        trace_, "SELECT id, slice_id FROM iteration", [&](const IterationSliceRow& row) {
          slices[row.id] = row.sliceId;
        }));
    SONDE_TRY_ASSIGN(const auto iterations, engine::iterations::Iterations::read(trace_));
    for (const engine::iterations::Iteration& each : iterations.all()) {
      if (!each.durNs || each.isInner())
        continue;
      facts_.processes[each.processId].processId = each.processId;
      OpenStretch stretch{{}, each.startNs, each.endNs(), slices[each.id], {}};
      stretch.calls.iteration = each.number;
      stretches_[each.processId].iterations.push_back(std::move(stretch));
    }
    return {};
  }

  // Those within an iteration belong to it.
  Result<void> readEvaluations() {
    SONDE_TRY(store::forEach<EvaluationRow>(
        trace_,
        "SELECT s.id, t.process_id, s.start_ns, s.dur_ns FROM slice s"
        " JOIN thread t ON t.id = s.thread_id"
        " WHERE s.kind = 'evaluation' AND s.dur_ns IS NOT NULL ORDER BY s.start_ns",
        [&](const EvaluationRow& row) {
          const auto process = stretches_.find(row.processId);
          if (process == stretches_.end() || process->second.at(row.startNs) != nullptr)
            return;
          OpenStretch stretch{{}, row.startNs, row.startNs + row.durNs, row.id, {}};
          stretch.calls.isEvaluation = true;
          stretch.calls.iteration = lastBefore(process->second.iterations, row.startNs);
          process->second.evaluations.push_back(std::move(stretch));
        }));
    for (auto& [id, stretches] : stretches_)
      closeGaps(stretches.iterations);
    return {};
  }

  static std::int64_t lastBefore(const Stretches& all, std::int64_t ns) {
    std::int64_t number = all.front().calls.iteration;
    for (const OpenStretch& each : all)
      if (each.startNs <= ns)
        number = each.calls.iteration;
    return number;
  }

  Result<void> readCalls() {
    return store::forEach<CallRow>(
        trace_,
        fmt::format(
            "SELECT t.process_id, s.parent_id, s.start_ns, s.kind, n.text AS name,"
            " a.value AS shapes, d.value AS dtypes FROM slice s"
            " JOIN thread t ON t.id = s.thread_id JOIN string n ON n.id = s.name_id"
            " LEFT JOIN arg a ON s.kind = 'operator' AND a.owner_id = s.id AND"
            "  a.owner = 'slice' AND a.key_id = (SELECT id FROM string WHERE text = 'shapes')"
            " LEFT JOIN arg d ON s.kind = 'operator' AND d.owner_id = s.id AND"
            "  d.owner = 'slice' AND d.key_id = (SELECT id FROM string WHERE text = 'dtypes')"
            " WHERE s.kind IN ({})",
            kCallKinds),
        [this](const CallRow& row) { add(row); });
  }

  void add(const CallRow& row) {
    const auto process = stretches_.find(row.processId);
    OpenStretch* const stretch =
        process == stretches_.end() ? nullptr : process->second.at(row.startNs);
    if (stretch == nullptr)
      return;
    ProcessCalls& calls = facts_.processes[row.processId];
    const bool isOperator = row.kind == "operator";
    std::string name =
        isOperator ? std::string(row.name) : fmt::format("{} {}", row.kind, row.name);
    if (isOperator && row.shapes && row.dtypes) {
      calls.hasArguments = true;
      ++stretch->calls.arguments[fmt::format("{} {} {}", row.name, *row.shapes, *row.dtypes)];
    }
    calls.hasOperators = calls.hasOperators || isOperator;
    ++(isOperator ? stretch->calls.operators : stretch->calls.scopes)[name];
    const bool isBetween = row.parentId == 0 && !stretch->calls.isEvaluation;
    if (row.parentId == stretch->sliceId || isBetween)
      stretch->order.push_back({row.startNs, std::move(name)});
  }

  Result<void> readCollectives() {
    return store::forEach<CollectiveRow>(
        trace_,
        "SELECT process_id, start_ns, op, dtype, bytes FROM collective",
        [this](const CollectiveRow& row) {
          const auto process = stretches_.find(row.processId);
          OpenStretch* const stretch =
              process == stretches_.end() ? nullptr : process->second.at(row.startNs);
          if (stretch == nullptr)
            return;
          facts_.processes[row.processId].hasCollectives = true;
          std::string name = fmt::format("{} of {} bytes", row.op, row.bytes);
          if (!row.dtype.empty())
            name += fmt::format(", {}", row.dtype);
          ++stretch->calls.collectives[name];
        });
  }

  static void finish(ProcessStretches& stretches, ProcessCalls& process) {
    for (Stretches* all : {&stretches.iterations, &stretches.evaluations})
      for (OpenStretch& each : *all) {
        std::stable_sort(each.order.begin(), each.order.end(), [](const auto& a, const auto& b) {
          return a.startNs < b.startNs;
        });
        each.order.resize(std::min(each.order.size(), kMostOrdered));
        for (Ordered& call : each.order)
          each.calls.order.push_back(std::move(call.name));
        process.stretches.push_back(std::move(each.calls));
      }
  }

  const store::Database& trace_;
  CallFacts facts_;
  std::map<std::int64_t, ProcessStretches> stretches_;  // by process
};

}  // namespace

Result<CallFacts> CallFacts::read(const store::Database& trace) {
  return CallReader(trace).read();
}

}  // namespace sonde::rules
