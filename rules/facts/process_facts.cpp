#include "rules/facts/process_facts.h"

#include "analysis/engine/iterations/iterations.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

namespace sonde::rules {
namespace {

struct ProcessRow {
  std::int64_t id = 0;
  std::optional<std::int64_t> rank;
  std::int64_t pid = 0;
  std::string host;
  bool isShared = false;  // another process with iterations has the rank
  bool isAlone = false;   // the only process with iterations

  SONDE_COLUMNS(id, rank, pid, host, isShared, isAlone)
};

struct ScalarRow {
  std::int64_t id = 0;
  std::int64_t processId = 0;
  std::optional<std::int64_t> iteration;
  std::string_view name;
  std::optional<double> value;

  SONDE_COLUMNS(id, processId, iteration, name, value)
};

struct TensorRow : TensorFact {
  std::int64_t id = 0;
  std::int64_t processId = 0;
  std::string_view name;
  std::string_view collection;
  std::string_view role;

  SONDE_COLUMNS(id,
                processId,
                name,
                collection,
                role,
                iteration,
                tsNs,
                elements,
                minimum,
                maximum,
                mean,
                variance,
                l1,
                l2,
                zeros,
                nans,
                infs,
                p01,
                p05,
                p25,
                p50,
                p75,
                p95,
                p99,
                histogram,
                dtype,
                shape,
                file,
                fileOffset)
};

std::string nameOf(const ProcessRow& row) {
  if (!row.rank && !row.isAlone)
    return fmt::format("process {}", row.pid);
  const std::string rank = fmt::format("rank {}", row.rank.value_or(0));
  return row.isShared && row.rank ? fmt::format("{}, process {}", rank, row.pid) : rank;
}

void addScalar(ScalarSeries& series, const ScalarRow& row) {
  if (!row.iteration) {
    ++series.outside;
    return;
  }
  // The store keeps NaN as NULL.
  const double value = row.value.value_or(std::numeric_limits<double>::quiet_NaN());
  auto& values = series.values;
  const auto after = std::upper_bound(
      values.begin(), values.end(), *row.iteration, [](std::int64_t number, const auto& each) {
        return number < each.iteration;
      });
  if (after == values.begin() || std::prev(after)->iteration != *row.iteration) {
    values.insert(after, {*row.iteration, value, 1});
    return;
  }
  SeriesValue& known = *std::prev(after);
  const auto count = static_cast<double>(known.count);
  known.value = (known.value * count + value) / (count + 1);
  ++known.count;
}

void addTensor(std::vector<TensorSeries>& all, const TensorRow& row) {
  auto series = std::find_if(all.begin(), all.end(), [&](const TensorSeries& each) {
    return each.name == row.name && each.collection == row.collection;
  });
  if (series == all.end())
    series = all.insert(
        all.end(), {std::string(row.name), std::string(row.collection), std::string(row.role), {}});
  auto& values = series->values;
  const auto after =
      std::upper_bound(values.begin(), values.end(), row, [](const auto& left, const auto& right) {
        return std::pair(left.iteration, left.tsNs) < std::pair(right.iteration, right.tsNs);
      });
  values.insert(after, static_cast<const TensorFact&>(row));
}

}  // namespace

ProcessView::ProcessView(const ProcessFacts& facts, std::size_t steps, std::size_t warmup)
    : facts_(&facts), warmup_(warmup), end_(std::min(steps, facts.steps.size())) {
  for (std::size_t outer = 0; first_ < end_; ++first_)
    if (!facts.steps[first_].isInner && outer++ == warmup)
      break;
}

std::size_t ProcessView::ended() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(facts_->steps.begin(),
                    facts_->steps.begin() + static_cast<std::ptrdiff_t>(end_),
                    [](const StepFact& step) { return !step.isInner; }));
}

std::span<const StepFact> ProcessView::steps() const noexcept {
  return std::span(facts_->steps).subspan(first_, end_ - first_);
}

template <typename T>
std::span<const T> ProcessView::within(const std::vector<T>& values) const {
  const auto all = steps();
  if (all.empty())
    return {};
  const auto begin = std::lower_bound(
      values.begin(), values.end(), all.front().number, [](const T& each, std::int64_t number) {
        return each.iteration < number;
      });
  const auto end = std::upper_bound(
      begin, values.end(), all.back().number, [](std::int64_t number, const T& each) {
        return number < each.iteration;
      });
  return {begin, end};
}

std::span<const SeriesValue> ProcessView::scalar(const std::string& name) const {
  const auto series = facts_->scalars.find(name);
  if (series == facts_->scalars.end())
    return {};
  return within(series->second.values);
}

std::int64_t ProcessView::strays(const std::string& name) const {
  const auto series = facts_->scalars.find(name);
  if (series == facts_->scalars.end())
    return 0;
  const ProcessView all(*facts_);
  std::int64_t strays = series->second.outside;
  for (const SeriesValue& each : series->second.values)
    strays += each.count;
  for (const SeriesValue& each : all.within(series->second.values))
    strays -= each.count;
  return strays;
}

std::span<const TensorFact> ProcessView::of(const TensorSeries& series) const {
  return within(series.values);
}

Result<RunFacts> RunFacts::read(const store::Database& trace) {
  RunFacts facts;
  SONDE_TRY(facts.grow(trace));
  return facts;
}

Result<void> RunFacts::grow(const store::Database& trace) {
  SONDE_TRY(readProcesses(trace));
  SONDE_TRY(readSteps(trace));
  SONDE_TRY(readScalars(trace));
  return readTensors(trace);
}

Result<void> RunFacts::readProcesses(const store::Database& trace) {
  withSteps_.clear();
  const std::filesystem::path folder = trace.path().parent_path();
  return store::forEach<ProcessRow>(
      trace,
      "SELECT p.id, p.rank, p.pid, h.name AS host,"
      " count(*) OVER (PARTITION BY p.rank) > 1 AS is_shared, count(*) OVER () = 1 AS is_alone"
      " FROM process p JOIN host h ON h.id = p.host_id WHERE p.id IN"
      " (SELECT process_id FROM iteration WHERE dur_ns IS NOT NULL)"
      " ORDER BY p.rank IS NULL, p.rank, p.id",
      [&](const ProcessRow& row) {
        ProcessFacts& facts = all_[row.id];
        facts.id = row.id;
        facts.name = nameOf(row);
        facts.rank = row.rank;
        facts.host = row.host;
        facts.folder = folder;
        withSteps_.push_back(&facts);
      });
}

Result<void> RunFacts::readSteps(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const auto iterations, engine::iterations::Iterations::read(trace));
  for (auto& [id, facts] : all_)
    facts.steps.clear();
  for (const engine::iterations::Iteration& each : iterations.all())
    if (each.durNs)
      all_[each.processId].steps.push_back(
          {each.number, each.startNs, *each.durNs, each.isInner()});
  for (auto& [id, facts] : all_)
    std::stable_sort(facts.steps.begin(), facts.steps.end(), [](const auto& a, const auto& b) {
      return a.number < b.number;
    });
  return {};
}

Result<void> RunFacts::readScalars(const store::Database& trace) {
  return store::forEach<ScalarRow>(
      trace,
      fmt::format("SELECT s.rowid AS id, s.process_id, s.iteration, n.text AS name, s.value"
                  " FROM scalar s JOIN string n ON n.id = s.name_id WHERE s.rowid > {}"
                  " ORDER BY s.rowid",
                  lastScalar_),
      [this](const ScalarRow& row) {
        lastScalar_ = row.id;
        addScalar(all_[row.processId].scalars[std::string(row.name)], row);
      });
}

Result<void> RunFacts::readTensors(const store::Database& trace) {
  return store::forEach<TensorRow>(
      trace,
      fmt::format("SELECT t.rowid AS id, n.text AS name, t.* FROM tensor t"
                  " JOIN string n ON n.id = t.name_id WHERE t.rowid > {} ORDER BY t.rowid",
                  lastTensor_),
      [this](const TensorRow& row) {
        lastTensor_ = row.id;
        addTensor(all_[row.processId].tensors, row);
      });
}

}  // namespace sonde::rules
