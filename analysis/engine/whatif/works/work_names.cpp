#include "analysis/engine/whatif/works/work_names.h"

#include "analysis/engine/whatif/job_lanes.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <utility>

namespace sonde::engine::whatif {
namespace {

struct TextRow {
  std::int64_t id = 0;
  std::string text;

  SONDE_COLUMNS(id, text)
};

struct NamedRow {
  std::int64_t id = 0;
  std::int64_t nameId = 0;

  SONDE_COLUMNS(id, nameId)
};

struct NamedSliceRow {
  std::int64_t id = 0;
  std::int64_t parentId = 0;
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;
  std::int64_t nameId = 0;

  SONDE_COLUMNS(id, parentId, threadId, startNs, durNs, nameId)
};

constexpr const char* kNamedSlices =
    "SELECT id, coalesce(parent_id, 0) AS parent_id, thread_id, start_ns, dur_ns, name_id FROM "
    "slice WHERE "
    "dur_ns > 0 ORDER BY thread_id, start_ns, dur_ns DESC, depth";

}  // namespace

Result<WorkNames> WorkNames::read(const store::Database& trace, const graph::Graph& graph) {
  WorkNames names;
  SONDE_TRY(store::forEach<TextRow>(
      trace,
      "SELECT id, text FROM string WHERE id IN (SELECT name_id FROM kernel UNION SELECT name_id "
      "FROM copy UNION SELECT name_id FROM slice)",
      [&](const TextRow& row) { names.texts_.emplace(row.id, row.text); }));
  SONDE_TRY(
      store::forEach<NamedRow>(trace, "SELECT id, name_id FROM kernel", [&](const NamedRow& row) {
        names.kernels_.emplace(row.id, row.nameId);
      }));
  SONDE_TRY(
      store::forEach<NamedRow>(trace, "SELECT id, name_id FROM copy", [&](const NamedRow& row) {
        names.copies_.emplace(row.id, row.nameId);
      }));
  SONDE_TRY(names.readSlices(trace, graph));
  return names;
}

Result<void> WorkNames::readSlices(const store::Database& trace, const graph::Graph& graph) {
  SONDE_TRY_ASSIGN(const JobLanes lanes, JobLanes::read(trace, graph));
  return store::forEach<NamedSliceRow>(trace, kNamedSlices, [&](const NamedSliceRow& row) {
    const auto at = lanes.ofThread(row);
    if (!at)
      return;
    const Slice slice{row.id, row.parentId, at->span.beginNs, at->span.endNs, row.nameId};
    slices_[at->lane].push_back(slice);
    byId_.emplace(row.id, slice);
  });
}

std::string WorkNames::textOf(std::int64_t nameId) const {
  const auto text = texts_.find(nameId);
  return text == texts_.end() ? std::string() : text->second;
}

std::string WorkNames::nameIn(const Names& names, std::int64_t row) const {
  const auto name = names.find(row);
  return name == names.end() ? std::string() : textOf(name->second);
}

std::string WorkNames::ofSlice(std::int64_t row) const {
  const auto slice = byId_.find(row);
  return slice == byId_.end() ? std::string() : textOf(slice->second.nameId);
}

std::string WorkNames::around(graph::LaneIndex thread,
                              std::int64_t beginNs,
                              std::int64_t endNs) const {
  const auto slices = slices_.find(thread);
  if (slices == slices_.end())
    return {};
  const auto after =
      std::upper_bound(slices->second.begin(),
                       slices->second.end(),
                       beginNs,
                       [](std::int64_t ns, const Slice& each) { return ns < each.beginNs; });
  if (after == slices->second.begin())
    return {};
  const Slice* slice = &*(after - 1);
  while (slice->endNs < endNs) {
    const auto parent = byId_.find(slice->parentId);
    if (parent == byId_.end())
      return {};
    slice = &parent->second;
  }
  return textOf(slice->nameId);
}

}  // namespace sonde::engine::whatif
