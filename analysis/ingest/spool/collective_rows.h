// The collectives that end after their call has returned, and whose parts other threads tell of:
// their record, the records of their end and those of their steps come in any order. An id is given
// to a collective when the first of them comes.
//
// Of one that has its record and an end only a later end may still come, and few are remembered.
// One that lacks either is remembered for as long as there is room: it may outlive any number of
// others, or, where nothing tells ends, never end.
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
  // Adds the row, without a duration unless it is known by then, when save() is called.
  model::CollectiveId add(std::uint64_t number,
                          model::Collective row,
                          std::uint32_t algorithm,
                          std::uint32_t protocol);
  // The collective has ended; the latest end holds. Or its end is not known.
  void end(std::uint64_t number, std::int64_t endNs);
  void loseEnd(std::uint64_t number);
  // It did not take place: its row goes when all has been read, its slice stays.
  void drop(std::uint64_t number);
  // How it is carried out, in ids of the dictionary.
  void plan(std::uint64_t number, std::uint32_t algorithm, std::uint32_t protocol);
  // Something is part of it: its id.
  model::CollectiveId join(std::uint64_t number);

  void save();
  // What save() left as state, by number, by id, and 0.
  static constexpr std::string_view kState = "collective";
  static constexpr std::string_view kLostState = "lost collective";
  static constexpr std::string_view kLostPartsState = "lost collective parts";
  void restore(std::string_view blob);
  void restoreLost(model::CollectiveId id) { lost_.push_back(id); }
  void restoreLostParts(std::uint64_t count) { lostParts_ = count; }
  // Nothing more comes: steps of collectives that never came are of none.
  void finish();
  // How many parts were of none that is known: its record was lost, or it is forgotten.
  std::uint64_t lostParts() const noexcept { return lostParts_; }

  static constexpr std::size_t kSettledMost = 8192;  // that are remembered
  static constexpr std::size_t kOthersMost = 65'536;

 private:
  struct Entry {
    std::uint64_t number = 0;
    model::CollectiveId id{};
    std::int64_t startNs = 0;
    std::int64_t endNs = 0;  // INT64_MIN: not known
    bool hasRow = false;
    bool unfinished = false;
    bool settled = false;      // it has its row and an end
    bool changed = false;      // since it was saved
    bool saved = false;        // there is a state of it
    bool newDuration = false;  // of a row that is stored
    bool newPlan = false;      // likewise
    std::uint32_t algorithm = 0;
    std::uint32_t protocol = 0;
    std::uint32_t parts = 0;  // that came
    std::size_t waiting = 0;  // its row's place among those to be stored, + 1; 0: it is stored
  };
  using Entries = std::list<Entry>;  // those of earlier first
  struct Waiting {
    model::Collective row;  // without algorithm and protocol
    std::uint32_t algorithm;
    std::uint32_t protocol;
  };
  Entry& entryOf(std::uint64_t number);
  Entry* partOf(std::uint64_t number);  // nullptr: of none
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
  std::vector<std::uint64_t> changed_;     // since they were saved; some are forgotten
  std::vector<Waiting> waiting_;           // to be stored
  std::vector<model::CollectiveId> lost_;  // given to collectives that are forgotten without a row
  std::uint64_t lostParts_ = 0;
};

}  // namespace sonde::ingest
