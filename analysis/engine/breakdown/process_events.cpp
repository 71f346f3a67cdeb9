#include "analysis/engine/breakdown/process_events.h"

#include "analysis/model/event.h"
#include "analysis/store/each_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace sonde::engine::breakdown {
namespace {

using model::SliceKind;
using store::Statement;

// What ends before it begins takes no time. In a damaged file sums may be no numbers.
std::int64_t endOf(std::int64_t begin, std::int64_t duration) noexcept {
  std::int64_t end = 0;
  return __builtin_add_overflow(begin, std::max<std::int64_t>(duration, 0), &end) ? kOpenEnd - 1
                                                                                  : end;
}

// Differences of times are numbers, too.
constexpr std::int64_t kMostNs = std::int64_t{1} << 62;
bool isTime(std::int64_t ns) noexcept {
  return ns > -kMostNs && ns < kMostNs;
}

// The last text that a column had, and what it means: neighbours mostly have the same.
template <typename Value>
class LastText {
 public:
  template <typename Find>
  const Value& of(std::string_view text, Find find) {
    if (!known_ || text != text_) {
      text_ = text;
      value_ = find(text);
      known_ = true;
    }
    return value_;
  }

 private:
  bool known_ = false;
  std::string text_;
  Value value_{};
};

class Reader {
 public:
  Reader(const store::Database& trace,
         ScopeDimensions dimensions,
         const correction::CorrectedTimes* times)
      : trace_(trace), dimensions_(dimensions), times_(times) {}

  Result<TraceEvents> read() {
    SONDE_TRY(readPlaces());
    SONDE_TRY(readSlices());
    SONDE_TRY(readKernels());
    SONDE_TRY(readWork("SELECT stream_id, start_ns, dur_ns, scope_id FROM copy"));
    SONDE_TRY(readTransfers());
    SONDE_TRY(readIterations());
    std::erase_if(events_.processes, [](const ProcessEvents& process) { return process.empty(); });
    return std::move(events_);
  }

 private:
  struct ThreadPlace {
    std::size_t process;
    std::size_t thread;
  };

  template <typename Each>
  Result<void> forEach(std::string_view sql, Each each) {
    return store::forEachRow(trace_, sql, each);
  }

  // As `times_` has what a thread did, a stream, or a process.
  using Correct = std::int64_t (correction::CorrectedTimes::*)(std::int64_t, std::int64_t) const;
  void correct(Correct of, std::int64_t id, std::int64_t& begin, std::int64_t& end) const {
    if (times_ == nullptr)
      return;
    begin = (times_->*of)(id, begin);
    if (end != kOpenEnd)
      end = (times_->*of)(id, end);
  }
  void correctProcess(std::int64_t id, std::optional<std::int64_t>& time) const {
    if (times_ != nullptr && time)
      time = times_->ofProcess(id, *time);
  }

  Result<void> readPlaces();
  Result<void> readSlices();
  Result<void> addSlice(const Statement& row);
  const ThreadPlace* placeOf(std::int64_t threadId);
  Result<void> readKernels();
  Result<void> readWork(std::string_view sql);
  Result<void> readTransfers();
  Result<void> readIterations();
  Result<void> addWork(std::size_t process, const Statement& row, Category category, Correct by);

  static Result<std::uint32_t> shortId(std::int64_t id) {
    if (id < 0 || id > std::numeric_limits<std::uint32_t>::max())
      return Error{ErrorCode::Corrupt,
                   fmt::format("the trace is damaged: it names a row {}, and there is none", id)};
    return static_cast<std::uint32_t>(id);
  }
  static Result<void> checkTimes(std::int64_t begin, std::int64_t end) {
    if (!isTime(begin) || !(end == kOpenEnd || isTime(end)))
      return Error{ErrorCode::Corrupt,
                   fmt::format("the trace is damaged: it has an event from {} to {} ns, which are "
                               "no times",
                               begin,
                               end)};
    return {};
  }

  const store::Database& trace_;
  ScopeDimensions dimensions_;
  const correction::CorrectedTimes* times_;
  TraceEvents events_;
  std::unordered_map<std::int64_t, ThreadPlace> threads_;
  std::unordered_map<std::int64_t, std::size_t> streams_;   // their processes
  std::unordered_map<std::int64_t, std::size_t> channels_;  // their processes
  std::unordered_map<std::int64_t, std::int64_t> atMost_;   // of slices whose end was lost
  std::pair<std::int64_t, const ThreadPlace*> lastThread_;
  LastText<std::optional<SliceKind>> kinds_;
  LastText<std::string> categories_;
};

Result<void> Reader::readPlaces() {
  std::unordered_map<std::int64_t, std::size_t> processes;
  SONDE_TRY(forEach("SELECT id, pid, rank, start_ns, end_ns FROM process ORDER BY id",
                    [&](const Statement& row) -> Result<void> {
                      processes.emplace(row.integer(0), events_.processes.size());
                      events_.processes.push_back({row.integer(0),
                                                   row.integer(1),
                                                   row.optionalInteger(2),
                                                   row.optionalInteger(3),
                                                   row.optionalInteger(4),
                                                   Scopes(dimensions_),
                                                   {},
                                                   {},
                                                   {}});
                      ProcessEvents& process = events_.processes.back();
                      correctProcess(process.id, process.startNs);
                      correctProcess(process.id, process.endNs);
                      return {};
                    }));
  const auto owners = [&](std::string_view sql, auto& into) {
    return forEach(sql, [&](const Statement& row) -> Result<void> {
      if (const auto owner = processes.find(row.integer(1)); owner != processes.end())
        into.emplace(row.integer(0), owner->second);
      return {};
    });
  };
  SONDE_TRY(owners("SELECT id, process_id FROM stream", streams_));
  SONDE_TRY(owners("SELECT id, process_id FROM channel", channels_));
  return forEach("SELECT id, process_id, tid FROM thread",
                 [&](const Statement& row) -> Result<void> {
                   const auto owner = processes.find(row.integer(1));
                   if (owner == processes.end())
                     return {};
                   std::vector<HostThread>& threads = events_.processes[owner->second].threads;
                   threads_.emplace(row.integer(0), ThreadPlace{owner->second, threads.size()});
                   threads.push_back({row.integer(0), row.integer(2), false, {}});
                   return {};
                 });
}

Result<void> Reader::readSlices() {
  SONDE_TRY(forEach(fmt::format("SELECT a.owner_id, a.value FROM arg a JOIN string k ON k.id = "
                                "a.key_id WHERE k.text = '{}' AND a.owner = 'slice'",
                                model::kAtMostKey),
                    [&](const Statement& row) -> Result<void> {
                      atMost_.emplace(row.integer(0), row.integer(1));
                      return {};
                    }));
  return forEach(
      "SELECT id, thread_id, kind, category, name_id, start_ns, dur_ns, scope_id, depth "
      "FROM slice ORDER BY rowid",
      [&](const Statement& row) { return addSlice(row); });
}

const Reader::ThreadPlace* Reader::placeOf(std::int64_t threadId) {
  if (lastThread_.first != threadId) {
    const auto place = threads_.find(threadId);
    lastThread_ = {threadId, place == threads_.end() ? nullptr : &place->second};
  }
  return lastThread_.second;
}

Result<void> Reader::addSlice(const Statement& row) {
  const ThreadPlace* place = placeOf(row.integer(1));
  const auto kind = kinds_.of(row.text(2), model::sliceKindOf);
  if (place == nullptr || !kind)
    return {};
  ProcessEvents& process = events_.processes[place->process];
  HostThread& thread = process.threads[place->thread];
  const std::int64_t id = row.integer(0);
  const bool isScope = model::isScope(*kind);
  SONDE_TRY_ASSIGN(const std::uint32_t around, shortId(row.integer(7)));
  SONDE_TRY_ASSIGN(const std::uint32_t scope,
                   isScope ? shortId(id) : Result<std::uint32_t>(around));
  SONDE_TRY_ASSIGN(const std::uint32_t name, shortId(row.integer(4)));
  if (isScope)
    process.scopes.add({scope, around, name, *kind});
  const std::string& words =
      categories_.of(row.text(3), [](std::string_view text) { return std::string(text); });
  const auto category = hostCategory(*kind, words, false);
  if (!category)
    return {};
  std::int64_t begin = row.integer(5);
  std::int64_t end = kOpenEnd;
  if (!row.isNull(6)) {
    end = endOf(begin, row.integer(6));
    events_.negative += row.integer(6) < 0 ? 1 : 0;
  } else if (const auto most = atMost_.find(id); most != atMost_.end()) {
    end = endOf(begin, most->second);
  }
  SONDE_TRY(checkTimes(begin, end));
  correct(&correction::CorrectedTimes::ofThread, thread.id, begin, end);
  thread.transitions |= *kind == SliceKind::Python && *category != Category::Python;
  thread.slices.push_back(
      {begin,
       end,
       scope,
       static_cast<std::uint16_t>(std::clamp<std::int64_t>(row.integer(8), 0, 0xffff)),
       *kind,
       *category});
  return {};
}

// The first columns of `row`: whose it is, begin, length, scope. `by`: corrects its times.
Result<void> Reader::addWork(std::size_t process,
                             const Statement& row,
                             Category category,
                             Correct by) {
  if (row.isNull(2))
    return {};
  std::int64_t begin = row.integer(1);
  std::int64_t end = endOf(begin, row.integer(2));
  events_.negative += row.integer(2) < 0 ? 1 : 0;
  SONDE_TRY(checkTimes(begin, end));
  correct(by, row.integer(0), begin, end);
  SONDE_TRY_ASSIGN(const std::uint32_t scope, shortId(row.integer(3)));
  events_.processes[process].device.push_back({begin, end, scope, category});
  return {};
}

Result<void> Reader::readKernels() {
  std::unordered_set<std::int64_t> names;
  SONDE_TRY(forEach("SELECT id, text FROM string WHERE id IN (SELECT name_id FROM kernel)",
                    [&](const Statement& row) -> Result<void> {
                      if (model::isCollectiveKernel(row.text(1)))
                        names.insert(row.integer(0));
                      return {};
                    }));
  std::unordered_set<std::int64_t> kernels;
  SONDE_TRY(forEach("SELECT kernel_id FROM collective WHERE kernel_id IS NOT NULL",
                    [&](const Statement& row) -> Result<void> {
                      kernels.insert(row.integer(0));
                      return {};
                    }));
  return forEach("SELECT stream_id, start_ns, dur_ns, scope_id, id, name_id FROM kernel",
                 [&](const Statement& row) -> Result<void> {
                   const auto stream = streams_.find(row.integer(0));
                   const bool communicates =
                       names.contains(row.integer(5)) || kernels.contains(row.integer(4));
                   if (stream == streams_.end())
                     return {};
                   return addWork(stream->second,
                                  row,
                                  communicates ? Category::Comm : Category::Compute,
                                  &correction::CorrectedTimes::ofStream);
                 });
}

Result<void> Reader::readWork(std::string_view sql) {
  return forEach(sql, [&](const Statement& row) -> Result<void> {
    if (const auto stream = streams_.find(row.integer(0)); stream != streams_.end())
      return addWork(
          stream->second, row, Category::Copy, &correction::CorrectedTimes::ofStream);
    return {};
  });
}

// Those of collectives, and those of threads that work for an operation: a server's thread that
// waits for somebody to call moves no data of the algorithm's.
Result<void> Reader::readTransfers() {
  return forEach(
      "SELECT x.thread_id, x.start_ns, x.dur_ns, s.scope_id, x.channel_id FROM transfer x LEFT JOIN collective "
      "c "
      "ON c.id = x.collective_id LEFT JOIN slice s ON s.id = c.slice_id WHERE x.collective_id IS "
      "NOT NULL OR x.thread_id IN "
      "(SELECT thread_id FROM slice WHERE kind IN ('phase', 'operation', 'iteration', 'forward', "
      "'backward', 'optimizer', 'data_load', 'checkpoint', 'evaluation'))",
      [&](const Statement& row) -> Result<void> {
        if (const auto channel = channels_.find(row.integer(4)); channel != channels_.end())
          return addWork(
              channel->second, row, Category::Net, &correction::CorrectedTimes::ofThread);
        return {};
      });
}

Result<void> Reader::readIterations() {
  std::unordered_map<std::int64_t, ProcessEvents*> processes;
  for (ProcessEvents& process : events_.processes)
    processes.emplace(process.id, &process);
  return forEach("SELECT process_id, number, start_ns, dur_ns, probe_mask < max(probe_mask) OVER "
                 "(PARTITION BY process_id) FROM iteration",
                 [&](const Statement& row) -> Result<void> {
                   const auto process = processes.find(row.integer(0));
                   if (process == processes.end())
                     return {};
                   std::int64_t begin = row.integer(2);
                   std::int64_t end = row.isNull(3) ? kOpenEnd : endOf(begin, row.integer(3));
                   events_.negative += row.integer(3) < 0 ? 1 : 0;
                   SONDE_TRY(checkTimes(begin, end));
                   correct(
                       &correction::CorrectedTimes::ofProcess, row.integer(0), begin, end);
                   process->second->iterations.push_back(
                       {row.integer(1), row.integer(4) != 0, begin, end});
                   return {};
                 });
}

}  // namespace

bool ProcessEvents::empty() const noexcept {
  return device.empty() && iterations.empty() &&
         std::all_of(threads.begin(), threads.end(), [](const HostThread& thread) {
           return thread.slices.empty();
         });
}

Result<TraceEvents> readEvents(const store::Database& trace,
                               ScopeDimensions dimensions,
                               const correction::CorrectedTimes* times) {
  return Reader(trace, dimensions, times).read();
}

}  // namespace sonde::engine::breakdown
