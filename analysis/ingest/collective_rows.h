// The collectives that end after their call has returned, and whose parts other threads tell of:
// their record, the records of their end and those of their steps come in any order. An id is given
// to a collective when the first of them comes.
//
// Part of one ImageBuilder, on its thread.
#pragma once

#include "analysis/ingest/dictionary.h"
#include "analysis/ingest/row_sink.h"
#include "analysis/model/event.h"

#include <cstddef>
#include <cstdint>
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

  // By wire::Collective::number; none for 0, and for one so long ago that it is forgotten.
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

  void save();
  // What save() left as state: kinds kState and kLostState.
  static constexpr std::string_view kState = "collective";
  static constexpr std::string_view kLostState = "lost collective";
  void restore(std::string_view blob);
  void restoreLost(model::CollectiveId id) { lost_.push_back(id); }
  // Nothing more comes: steps of collectives that never came are of none.
  void finish();

 private:
  struct Entry {
    std::uint64_t number = 0;
    model::CollectiveId id{};
    std::int64_t startNs = 0;
    std::int64_t endNs = 0;  // INT64_MIN: not known
    bool hasRow = false;
    bool unfinished = false;
    bool changed = false;      // since it was saved
    bool newDuration = false;  // of a row that is stored
    bool newPlan = false;      // likewise
    std::uint32_t algorithm = 0;
    std::uint32_t protocol = 0;
    std::size_t waiting = 0;  // its row's place among those to be stored, + 1; 0: it is stored
  };
  struct Waiting {
    model::Collective row;  // without algorithm and protocol
    std::uint32_t algorithm;
    std::uint32_t protocol;
  };
  Entry* entryOf(std::uint64_t number);
  static model::OptionalInt durationOf(const Entry& entry);
  void settle(Entry& entry);
  model::OptionalText wordOf(std::uint32_t id);

  RowSink& sink_;
  const std::string& spool_;
  Dictionary& dictionary_;
  std::unordered_map<std::uint64_t, Entry> entries_;  // by number modulo how many are remembered
  std::vector<Waiting> waiting_;                      // to be stored
  std::vector<model::CollectiveId> lost_;  // given to collectives that are forgotten without a row
};

}  // namespace sonde::ingest
