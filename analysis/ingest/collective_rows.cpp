#include "analysis/ingest/collective_rows.h"

#include "analysis/ingest/state_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace sonde::ingest {
namespace {

// More than the probe has open at a time (nccl_call_pool.h).
constexpr std::uint64_t kRemembered = 8192;
constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::min();

}  // namespace

CollectiveRows::Entry* CollectiveRows::entryOf(std::uint64_t number) {
  if (number == 0)
    return nullptr;
  Entry& entry = entries_[number % kRemembered];
  if (entry.number > number)
    return nullptr;
  if (entry.number < number) {
    settle(entry);
    if (entry.number != 0 && !entry.hasRow) {
      sink_.setState(spool_, kLostState, entry.id.value, std::int64_t{1});
      lost_.push_back(entry.id);
    }
    entry = {};
    entry.number = number;
    entry.id = sink_.writer().reserveId<model::CollectiveId>();
    entry.endNs = kNoEnd;
  }
  entry.changed = true;
  return &entry;
}

model::CollectiveId CollectiveRows::idOf(std::uint64_t number) {
  const Entry* const entry = entryOf(number);
  return entry == nullptr ? model::CollectiveId{} : entry->id;
}

model::CollectiveId CollectiveRows::add(std::uint64_t number,
                                        model::Collective row,
                                        std::uint32_t algorithm,
                                        std::uint32_t protocol) {
  Entry* const entry = entryOf(number);
  if (entry == nullptr || entry->hasRow) {
    row.algorithm = wordOf(algorithm);
    row.protocol = wordOf(protocol);
    return sink_.add(row);
  }
  entry->hasRow = true;
  entry->startNs = row.startNs;
  row.id = entry->id;
  waiting_.push_back({row, algorithm, protocol});
  entry->waiting = waiting_.size();
  return row.id;
}

model::OptionalText CollectiveRows::wordOf(std::uint32_t id) {
  return id == 0 ? std::nullopt : model::OptionalText(dictionary_.text(id));
}

void CollectiveRows::end(std::uint64_t number, std::int64_t endNs) {
  Entry* const entry = entryOf(number);
  if (entry == nullptr || entry->endNs >= endNs)
    return;
  entry->endNs = endNs;
  entry->newDuration = true;
}

void CollectiveRows::loseEnd(std::uint64_t number) {
  Entry* const entry = entryOf(number);
  if (entry == nullptr)
    return;
  entry->unfinished = true;
  entry->newDuration = true;
}

void CollectiveRows::drop(std::uint64_t number) {
  if (const Entry* const entry = entryOf(number); entry != nullptr) {
    sink_.setState(spool_, kLostState, entry->id.value, std::int64_t{1});
    lost_.push_back(entry->id);
  }
}

model::OptionalInt CollectiveRows::durationOf(const Entry& entry) {
  if (entry.unfinished || entry.endNs == kNoEnd)
    return std::nullopt;
  return std::max<std::int64_t>(entry.endNs - entry.startNs, 0);
}

void CollectiveRows::plan(std::uint64_t number, std::uint32_t algorithm, std::uint32_t protocol) {
  Entry* const entry = entryOf(number);
  if (entry == nullptr)
    return;
  entry->algorithm = algorithm;
  entry->protocol = protocol;
  entry->newPlan = true;
}

// What is new goes to its row, waiting or stored; one whose record has not come yet keeps it.
void CollectiveRows::settle(Entry& entry) {
  if (!entry.hasRow)
    return;
  if (entry.waiting != 0) {
    Waiting& waiting = waiting_[entry.waiting - 1];
    waiting.row.durNs = durationOf(entry);
    if (entry.newPlan) {
      waiting.algorithm = entry.algorithm;
      waiting.protocol = entry.protocol;
    }
  } else {
    if (entry.newDuration)
      sink_.endCollective(entry.id, durationOf(entry));
    if (entry.newPlan)
      sink_.planCollective(entry.id, wordOf(entry.algorithm), wordOf(entry.protocol));
  }
  entry.waiting = 0;
  entry.newDuration = entry.newPlan = false;
}

void CollectiveRows::save() {
  for (auto& [place, entry] : entries_) {
    if (!entry.changed)
      continue;
    settle(entry);
    entry.changed = false;
    StatePacker out;
    out.put(entry);
    sink_.setState(spool_, kState, static_cast<std::int64_t>(place), std::string_view(out.bytes()));
  }
  for (auto& [row, algorithm, protocol] : waiting_) {
    row.algorithm = wordOf(algorithm);
    row.protocol = wordOf(protocol);
    sink_.add(row);
  }
  waiting_.clear();
}

void CollectiveRows::restore(std::string_view blob) {
  StateUnpacker in(blob);
  const auto entry = in.get<Entry>();
  entries_[entry.number % kRemembered] = entry;
}

void CollectiveRows::finish() {
  for (const auto& [place, entry] : entries_) {
    if (!entry.hasRow)
      lost_.push_back(entry.id);
  }
  if (lost_.empty() || sink_.failed())
    return;
  std::vector<std::int64_t> ids;
  for (const model::CollectiveId id : lost_)
    ids.push_back(id.value);
  lost_.clear();
  if (const auto done = sink_.writer().database().exec(
          fmt::format("UPDATE transfer SET collective_id = NULL WHERE collective_id IN ({0}); "
                      "DELETE FROM arg WHERE owner = 'collective' AND owner_id IN ({0}); "
                      "UPDATE slice SET kind = 'api' WHERE id IN (SELECT slice_id FROM collective "
                      "WHERE id IN ({0})); DELETE FROM collective WHERE id IN ({0})",
                      fmt::join(ids, ",")));
      !done)
    sink_.writer().fail(done.error());
}

}  // namespace sonde::ingest
