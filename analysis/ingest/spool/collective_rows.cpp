#include "analysis/ingest/spool/collective_rows.h"

#include "analysis/ingest/rows/state_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace sonde::ingest {
namespace {

constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::min();

std::int64_t keyOf(std::uint64_t number) {
  return static_cast<std::int64_t>(number);
}

}  // namespace

CollectiveRows::Entry& CollectiveRows::entryOf(std::uint64_t number) {
  const auto found = byNumber_.find(number);
  if (found != byNumber_.end()) {
    change(*found->second);
    return *found->second;
  }
  Entry entry;
  entry.number = number;
  entry.id = sink_.writer().reserveId<model::CollectiveId>();
  entry.endNs = kNoEnd;
  keepLatest(others_, kOthersMost - 1);
  byNumber_[number] = others_.insert(others_.end(), entry);
  change(others_.back());
  return others_.back();
}

CollectiveRows::Entry* CollectiveRows::partOf(std::uint64_t number) {
  if (number == 0)
    return nullptr;
  Entry& entry = entryOf(number);
  ++entry.parts;
  return &entry;
}

void CollectiveRows::change(Entry& entry) {
  if (!entry.changed)
    changed_.push_back(entry.number);
  entry.changed = true;
}

void CollectiveRows::settleIfDone(const Entry& entry) {
  if (entry.settled || !entry.hasRow || (entry.endNs == kNoEnd && !entry.unfinished))
    return;
  const Entries::iterator place = byNumber_[entry.number];
  place->settled = true;
  settled_.splice(settled_.end(), others_, place);
  keepLatest(settled_, kSettledMost);
}

void CollectiveRows::keepLatest(Entries& entries, std::size_t most) {
  while (entries.size() > most) {
    Entry& first = entries.front();
    complete(first);
    if (!first.hasRow)
      lose(first);
    if (first.saved)
      sink_.dropState(spool_, kState, keyOf(first.number));
    byNumber_.erase(first.number);
    entries.pop_front();
  }
}

void CollectiveRows::lose(const Entry& entry) {
  lost_.push_back(entry.id);
  sink_.setState(spool_, kLostState, entry.id.value, std::int64_t{1});
  lostParts_ += entry.parts;
  sink_.setState(spool_, kLostPartsState, 0, static_cast<std::int64_t>(lostParts_));
}

model::CollectiveId CollectiveRows::idOf(std::uint64_t number) {
  return number == 0 ? model::CollectiveId{} : entryOf(number).id;
}

model::CollectiveId CollectiveRows::join(std::uint64_t number) {
  const Entry* const entry = partOf(number);
  return entry == nullptr ? model::CollectiveId{} : entry->id;
}

model::CollectiveId CollectiveRows::add(std::uint64_t number,
                                        model::Collective row,
                                        std::uint32_t algorithm,
                                        std::uint32_t protocol) {
  Entry* const entry = number == 0 ? nullptr : &entryOf(number);
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
  settleIfDone(*entry);
  return row.id;
}

model::OptionalText CollectiveRows::wordOf(std::uint32_t id) {
  return id == 0 ? std::nullopt : model::OptionalText(dictionary_.text(id));
}

void CollectiveRows::end(std::uint64_t number, std::int64_t endNs) {
  Entry* const entry = partOf(number);
  if (entry == nullptr || entry->endNs >= endNs)
    return;
  entry->endNs = endNs;
  entry->newDuration = true;
  settleIfDone(*entry);
}

void CollectiveRows::loseEnd(std::uint64_t number) {
  Entry* const entry = partOf(number);
  if (entry == nullptr)
    return;
  entry->unfinished = true;
  entry->newDuration = true;
  settleIfDone(*entry);
}

void CollectiveRows::drop(std::uint64_t number) {
  const Entry* const entry = number == 0 ? nullptr : &entryOf(number);
  if (entry == nullptr)
    return;
  sink_.setState(spool_, kLostState, entry->id.value, std::int64_t{1});
  lost_.push_back(entry->id);
}

model::OptionalInt CollectiveRows::durationOf(const Entry& entry) {
  if (entry.unfinished || entry.endNs == kNoEnd)
    return std::nullopt;
  return std::max<std::int64_t>(entry.endNs - entry.startNs, 0);
}

void CollectiveRows::plan(std::uint64_t number, std::uint32_t algorithm, std::uint32_t protocol) {
  Entry* const entry = partOf(number);
  if (entry == nullptr)
    return;
  entry->algorithm = algorithm;
  entry->protocol = protocol;
  entry->newPlan = true;
}

// Updates the row, waiting or stored, with new values. Without a row yet, the entry keeps them.
void CollectiveRows::complete(Entry& entry) {
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

void CollectiveRows::save(Entry& entry) {
  if (!entry.changed)
    return;
  complete(entry);
  entry.changed = false;
  entry.saved = true;
  StatePacker out;
  out.put(entry);
  sink_.setState(spool_, kState, keyOf(entry.number), std::string_view(out.bytes()));
}

void CollectiveRows::save() {
  for (const std::uint64_t number : changed_) {
    if (const auto found = byNumber_.find(number); found != byNumber_.end())
      save(*found->second);
  }
  changed_.clear();
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
  Entries& entries = entry.settled ? settled_ : others_;
  byNumber_[entry.number] = entries.insert(entries.end(), entry);
}

void CollectiveRows::finish() {
  for (const Entry& entry : others_) {
    if (!entry.hasRow)
      lose(entry);
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
