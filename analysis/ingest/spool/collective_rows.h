// Collectives that end after their call has returned, with parts reported by other threads. Their
// record, the records of their end and those of their steps come in any order. The first of these
// gives the collective its id.
//
// A collective with its record and an end is settled: only a later end can still come, and few are
// remembered. Others are remembered as long as there is room. They may outlive any number of
// settled ones, or never end if nothing reports ends.
//
// Part of one ImageBuilder, on its thread.
#pragma once

#include "analysis/ingest/rows/dictionary.h"
#include "analysis/ingest/rows/row_sink.h"
#include "analysis/model/event.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sonde::ingest {

class CollectiveRows {
 public:
  // All must outlive it.
  CollectiveRows(RowSink& sink, const std::string& spool, Dictionary& dictionary)
      : sink_(sink), spool_(spool), dictionary_(dictionary) {}

  // By wire::Collective::number; none for 0.
  model::CollectiveId idOf(std::uint64_t number);
  // Adds the row when save() is called. It gets a duration if that is known by then.
  model::CollectiveId add(std::uint64_t number,
                          model::Collective row,
                          std::uint32_t algorithm,
                          std::uint32_t protocol);
  // The collective has ended; the latest end counts. loseEnd(): the end is unknown.
  void end(std::uint64_t number, std::int64_t endNs);
  void loseEnd(std::uint64_t number);
  // The collective did not take place: its row is removed after all has been read, its slice stays.
  void drop(std::uint64_t number);
  // Sets its algorithm and protocol, as ids of the dictionary.
  void plan(std::uint64_t number, std::uint32_t algorithm, std::uint32_t protocol);
  // Returns the collective's id for a part of it.
  model::CollectiveId join(std::uint64_t number);

  void save();
  // The kinds of state that save() stores; keys: number, id, and 0.
  static constexpr std::string_view kState = "collective";
  static constexpr std::string_view kLostState = "lost collective";
  static constexpr std::string_view kLostPartsState = "lost collective parts";
  void restore(std::string_view blob);
  void restoreLost(model::CollectiveId id) { lost_.push_back(id); }
  void restoreLostParts(std::uint64_t count) { lostParts_ = count; }
  // No more records come: parts of collectives that never came belong to none.
  void finish();
  // Number of parts of unknown collectives: their record was lost, or they were forgotten.
  std::uint64_t lostParts() const noexcept { return lostParts_; }

  static constexpr std::size_t kSettledMost = 8192;  // remembered at most
  static constexpr std::size_t kOthersMost = 65'536;

 private:
  struct Entry {
    std::uint64_t number = 0;
    model::CollectiveId id{};
    std::int64_t startNs = 0;
    std::int64_t endNs = 0;  // INT64_MIN: unknown
    bool hasRow = false;
    bool unfinished = false;
    bool settled = false;      // it has its row and an end
    bool changed = false;      // since the last save
    bool saved = false;        // its state is stored
    bool newDuration = false;  // of a stored row
    bool newPlan = false;      // likewise
    std::uint32_t algorithm = 0;
    std::uint32_t protocol = 0;
    std::uint32_t parts = 0;  // received
    std::size_t waiting = 0;  // 1 + its row's index among waiting ones; 0: stored
  };
  using Entries = std::list<Entry>;  // oldest first
  struct Waiting {
    model::Collective row;  // without algorithm and protocol
    std::uint32_t algorithm;
    std::uint32_t protocol;
  };
  Entry& entryOf(std::uint64_t number);
  Entry* partOf(std::uint64_t number);  // nullptr: belongs to none
  void change(Entry& entry);
  void settleIfDone(const Entry& entry);
  void keepLatest(Entries& entries, std::size_t most);
  void lose(const Entry& entry);
  static model::OptionalInt durationOf(const Entry& entry);
  void complete(Entry& entry);
  void save(Entry& entry);
  model::OptionalText wordOf(std::uint32_t id);

  RowSink& sink_;
  const std::string& spool_;
  Dictionary& dictionary_;
  Entries settled_;
  Entries others_;
  std::unordered_map<std::uint64_t, Entries::iterator> byNumber_;
  std::vector<std::uint64_t> changed_;     // since the last save; some may be forgotten
  std::vector<Waiting> waiting_;           // rows to be stored
  std::vector<model::CollectiveId> lost_;  // ids of collectives that were forgotten without a row
  std::uint64_t lostParts_ = 0;
};

}  // namespace sonde::ingest
