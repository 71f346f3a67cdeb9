#include "analysis/engine/metrics/python_time.h"

#include "analysis/store/statement.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace sonde::engine::metrics {
namespace {

using store::Statement;

// Slices by thread and begin; outer ones first.
constexpr std::string_view kSlices =
    "SELECT t.process_id, t.id, s.kind, s.category, n.text, s.start_ns, s.start_ns + s.dur_ns, "
    "p.rank FROM process p JOIN thread t ON t.process_id = p.id JOIN slice s ON s.thread_id = t.id "
    "JOIN string n ON n.id = s.name_id WHERE s.dur_ns IS NOT NULL AND s.kind IN ('phase', "
    "'operation', 'forward', 'backward', 'optimizer', 'data_load', 'checkpoint', 'evaluation', "
    "'python', 'operator', 'collective', 'io', 'wait') AND p.id IN (SELECT u.process_id FROM "
    "thread u JOIN slice c ON c.thread_id = u.id WHERE c.kind = 'python') "
    "ORDER BY t.process_id, t.id, s.start_ns, s.depth, s.id";

bool isWait(std::string_view kind) {
  return kind == "wait" || kind == "io" || kind == "collective";
}

CodePart partOf(std::string_view kind, std::string_view category) {
  if (isWait(kind))
    return CodePart::Waiting;
  if (kind == "operator" || (kind == "python" && category == "framework"))
    return CodePart::Framework;
  if (kind == "python" && category == "simulator")
    return CodePart::Simulator;
  return kind == "python" && category == "other" ? CodePart::Other : CodePart::Python;
}

// Sums over the threads of one process.
class ProcessTime {
 public:
  std::size_t operation(std::string_view kind, std::string_view name) {
    const auto [found, isNew] =
        numbers_.try_emplace({std::string(kind), std::string(name)}, numbers_.size());
    return found->second;
  }

  void endThread() {
    const auto totals = std::exchange(sweep_, {}).finish(numbers_.size());
    totals_.resize(std::max(totals_.size(), totals.size() - 1));
    for (std::size_t at = 0; at + 1 < totals.size(); ++at)
      add(totals[at], totals_[at]);
    add(totals.back(), outside_);
  }

  void appendTo(std::vector<PythonTime>& times, PythonTime of) {
    const auto begin = static_cast<std::ptrdiff_t>(times.size());
    for (const auto& [key, number] : numbers_) {
      std::tie(of.kind, of.name) = key;
      append(times, of, totals_[number]);
    }
    of.kind = of.name = "";
    append(times, of, outside_);
    std::stable_sort(times.begin() + begin, times.end(), [](const auto& a, const auto& b) {
      return a.wallNs > b.wallNs;
    });
  }

  PythonSweep& sweep() { return sweep_; }

 private:
  static void add(const PythonSweep::Total& from, PythonSweep::Total& to) {
    for (std::size_t part = 0; part < kCodeParts; ++part) {
      to.ns[part] += from.ns[part];
      to.entered[part] += from.entered[part];
    }
  }

  static void append(std::vector<PythonTime>& times,
                     PythonTime& of,
                     const PythonSweep::Total& total) {
    of.ns = total.ns;
    of.entered = total.entered;
    of.wallNs = 0;
    for (const std::int64_t ns : of.ns)
      of.wallNs += ns;
    if (of.wallNs > 0)
      times.push_back(of);
  }

  PythonSweep sweep_;
  std::map<std::pair<std::string, std::string>, std::size_t> numbers_;
  std::vector<PythonSweep::Total> totals_;
  PythonSweep::Total outside_;
};

}  // namespace

PythonSweep::Total& PythonSweep::totalOf(std::size_t operation) {
  if (operation == kInherited)
    return outside_;
  if (totals_.size() <= operation)
    totals_.resize(operation + 1);
  return totals_[operation];
}

void PythonSweep::count(std::int64_t untilNs) {
  const std::size_t operation = open_.empty() ? kInherited : open_.back().operation;
  const CodePart part = open_.empty() ? CodePart::Python : open_.back().part;
  totalOf(operation).ns[static_cast<std::size_t>(part)] += untilNs - *nowNs_;
  nowNs_ = untilNs;
}

void PythonSweep::passUntil(std::int64_t ns) {
  while (!open_.empty() && open_.back().endNs <= ns) {
    count(open_.back().endNs);
    open_.pop_back();
  }
  count(ns);
}

void PythonSweep::add(const Slice& slice) {
  if (!nowNs_)
    nowNs_ = slice.time.begin;
  passUntil(std::max(slice.time.begin, *nowNs_));
  Open next{slice.time.end, slice.part, slice.operation, slice.isNative};
  bool insideNative = false;
  if (!open_.empty()) {
    const Open& around = open_.back();
    next.endNs = std::min(next.endNs, around.endNs);
    if (next.operation == kInherited)
      next.operation = around.operation;
    insideNative = around.isNative;
    // A wait or an operator inside native code belongs to that code.
    if (insideNative && slice.isNative && slice.part == CodePart::Waiting)
      next.part = around.part;
  }
  next.endNs = std::max(next.endNs, *nowNs_);
  if (slice.isNative && !insideNative)
    ++totalOf(next.operation).entered[static_cast<std::size_t>(next.part)];
  lastNs_ = std::max(lastNs_, next.endNs);
  open_.push_back(next);
}

std::vector<PythonSweep::Total> PythonSweep::finish(std::size_t operations) {
  if (nowNs_)
    passUntil(std::max(lastNs_, *nowNs_));
  totals_.resize(operations);
  totals_.push_back(outside_);
  return std::move(totals_);
}

Result<std::vector<PythonTime>> pythonTimes(const store::Database& trace) {
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(kSlices));
  std::vector<PythonTime> times;
  ProcessTime process;
  PythonTime of;
  std::int64_t thread = 0;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    const bool sameProcess = row && rows.integer(0) == of.processId;
    if (thread != 0 && (!sameProcess || rows.integer(1) != thread))
      process.endThread();
    if (thread != 0 && !sameProcess)
      std::exchange(process, {}).appendTo(times, of);
    if (!row)
      return times;
    of.processId = rows.integer(0);
    of.rank = rows.isNull(7) ? std::nullopt : std::optional(rows.integer(7));
    thread = rows.integer(1);
    const std::string_view kind = rows.text(2);
    const bool isScope = kind != "python" && kind != "operator" && !isWait(kind);
    const CodePart part = partOf(kind, rows.text(3));
    process.sweep().add(
        {{rows.integer(5), rows.integer(6)},
         part,
         part != CodePart::Python,
         isScope ? process.operation(kind, rows.text(4)) : PythonSweep::kInherited});
  }
}

}  // namespace sonde::engine::metrics
