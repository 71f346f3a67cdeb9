// Holds the state that all parts of one ImageBuilder share: the destination of their rows, the
// process, the texts and times that records refer to, and the counts. Owned by the builder, on its
// thread; outlives the parts.
#pragma once

#include "analysis/ingest/rows/clock_fit.h"
#include "analysis/ingest/rows/dictionary.h"
#include "analysis/ingest/rows/process_row.h"
#include "analysis/ingest/rows/row_sink.h"
#include "analysis/ingest/rows/wire_words.h"
#include "analysis/ingest/spool/thread_track.h"
#include "analysis/model/event.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace sonde::ingest {

struct ImageCounts {
  std::uint64_t records = 0;     // became rows or parts of rows
  std::uint64_t skipped = 0;     // kinds unknown to this version, or with a broken size
  std::uint64_t damaged = 0;     // with impossible values
  std::uint64_t unbalanced = 0;  // ends without a begin
  std::uint64_t strayInfos = 0;  // iteration infos before any iteration
  std::uint64_t iterations = 0;  // those that have begun, of all threads
};

// A thread of the process that writes records.
struct ImageThread {
  std::uint32_t index = 0;
  model::Thread row;
  std::uint32_t name = 0;  // in the dictionary
  ThreadTrack track;
  model::Owner lastOwner = model::Owner::Slice;
  std::int64_t lastId = 0;  // of the previous record; 0: it did not become a row
  std::int64_t lastNs = 0;  // scopes of a thread never run backwards
  bool changed = true;      // since it was saved

  // Notes the row that the current record became.
  void remember(model::Owner owner, std::int64_t id) {
    lastOwner = owner;
    lastId = id;
  }
};

struct ImageContext {
  RowSink& sink;
  TimeBase time;
  std::string spool;
  ProcessRow& process;
  Dictionary dictionary{};
  ImageCounts counts{};
  std::int64_t lastNs = 0;  // of the latest event
  std::int64_t seenNs = 0;  // when the process was last seen alive

  // The time of an event of the thread; never before its previous one.
  std::int64_t advance(ImageThread& thread, std::uint64_t ticks) {
    thread.lastNs = std::max(thread.lastNs, time.toNs(ticks));
    lastNs = std::max(lastNs, thread.lastNs);
    return thread.lastNs;
  }
  // The time of an event whose record has no place in the order of its thread's.
  std::int64_t happened(std::uint64_t ticks) {
    const std::int64_t ns = time.toNs(ticks);
    lastNs = std::max(lastNs, ns);
    return ns;
  }
  // The end of a call; for an open one (0) the last time at which it is known to be open.
  std::int64_t endOf(ImageThread& thread, std::uint64_t endTicks) {
    return endTicks != 0 ? advance(thread, endTicks) : std::max(thread.lastNs, seenNs);
  }

  // The text with this id in the dictionary, as a string of the trace.
  model::StringId name(std::uint32_t id) { return dictionary.name(sink, id); }
  model::Slice newSlice(const ImageThread& thread,
                        model::SliceKind kind,
                        wire::Probe probe,
                        std::uint32_t nameId,
                        std::int64_t startNs) {
    model::Slice slice;
    slice.threadId = thread.row.id;
    slice.kind = kind;
    slice.category = probeWord(probe);
    slice.nameId = name(nameId);
    slice.startNs = startNs;
    return slice;
  }
  void addArg(model::Owner owner, std::int64_t id, model::StringId key, model::ArgValue value) {
    sink.add(model::Arg{owner, id, key, value});
  }
};

}  // namespace sonde::ingest
