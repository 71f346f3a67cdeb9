#include "analysis/ingest/spool/image_builder.h"

#include "analysis/ingest/rows/record_walk.h"
#include "analysis/ingest/rows/wire_words.h"
#include "base/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::ingest {
namespace {

wire::Probe probeOf(const wire::RecordHeader& header, const std::byte* at) {
  switch (header.kind) {
    case wire::RecordKind::ScopeBegin:
      return loadRecord<wire::ScopeBegin>(at).probe;
    case wire::RecordKind::Call:
      return loadRecord<wire::Call>(at).probe;
    case wire::RecordKind::RangeBegin:
      return loadRecord<wire::RangeBegin>(at).probe;
    case wire::RecordKind::Mark:
      return loadRecord<wire::Mark>(at).probe;
    case wire::RecordKind::Collective:
      return loadRecord<wire::Collective>(at).probe;
    case wire::RecordKind::Transfer:
      return wire::Probe::Net;
    case wire::RecordKind::CounterValue:
    case wire::RecordKind::Note:
      return wire::Probe::Plugin;
    case wire::RecordKind::Message:
      return wire::Probe::Mpi;
    case wire::RecordKind::FileAccess:
      return wire::Probe::Io;
    case wire::RecordKind::Handoff:
      return wire::Probe::Sync;
    case wire::RecordKind::StackSample:
      return wire::Probe::Stack;
    case wire::RecordKind::Allocation:
    case wire::RecordKind::Release:
      return wire::Probe::Memory;
    case wire::RecordKind::CollectivePart:
      return wire::Probe::Nccl;
    case wire::RecordKind::DeviceCall:
    case wire::RecordKind::Kernel:
    case wire::RecordKind::DeviceCopy:
    case wire::RecordKind::DeviceSync:
    case wire::RecordKind::DeviceMemory:
    case wire::RecordKind::DeviceMetric:
      return wire::Probe::Cuda;
    case wire::RecordKind::ClockSync:
    case wire::RecordKind::ThreadEnd:
    case wire::RecordKind::Fork:
    case wire::RecordKind::Exec:
      return wire::Probe::Process;
    default:
      return wire::Probe::Annotation;
  }
}

}  // namespace

void LostRecords::add(std::span<const std::byte> records) {
  walkRecords(records, [&](const wire::RecordHeader& header, const std::byte* at) {
    const auto probe = static_cast<std::size_t>(probeOf(header, at));
    ++count[probe < count.size() ? probe : 0][static_cast<std::size_t>(header.kind)];
  });
}

ImageBuilder::ImageBuilder(
    RowSink& sink, TimeBase time, std::string spool, ProcessRow& process, std::uint32_t probeMask)
    : sink_(sink),
      time_(time),
      spool_(std::move(spool)),
      process_(process),
      probeMask_(probeMask),
      devices_(sink_, time_, spool_, process_, dictionary_),
      memory_(sink_, time_, spool_, process_, devices_),
      hostMemory_(sink_, time_, spool_, process_),
      collectives_(sink_, spool_, dictionary_),
      stacks_(sink_, time_, process_, dictionary_),
      plugins_(sink_, spool_, process_, dictionary_) {}

void ImageBuilder::begin() {
  process_.row.id = sink_.add(process_.row);
  lastNs_ = process_.row.startNs.value_or(0);
  sink_.setState(spool_, "process", 0, process_.row.id.value);
}

// A thread that has ended may reappear: its slots are not read in the order of their records.
ImageBuilder::Thread& ImageBuilder::threadOf(std::uint32_t index) {
  const auto found = threads_.find(index);
  if (found != threads_.end())
    return *found->second;
  if (const std::string blob = sink_.state(spool_, "thread", index); !blob.empty())
    return *(threads_[index] = unpackThread(blob));
  // In a damaged file, records may come before the definition of their thread.
  wire::ThreadDefinition unknown{};
  unknown.thread = index;
  return addThread(unknown);
}

// `scopes`: the open scopes according to the thread. If they differ from ours, records were lost. A
// begin that we missed is restored from the slot's prefix. A scope whose end we missed ended
// before, unless its end is the record for which the slot was claimed.
void ImageBuilder::openSlot(std::uint32_t index,
                            std::span<const wire::OpenScope> scopes,
                            std::uint64_t claimTicks,
                            std::span<const std::byte> records) {
  Thread& thread = threadOf(index);
  thread.changed = true;
  std::uint32_t endsNext = 0;
  if (records.size() >= sizeof(wire::ScopeEnd)) {
    const auto first = loadRecord<wire::ScopeEnd>(records.data());
    if (first.header.kind == wire::RecordKind::ScopeEnd)
      endsNext = first.header.subject;
  }
  const auto isOpen = [&](std::uint32_t token) {
    return token == endsNext ||
           std::any_of(scopes.begin(), scopes.end(), [&](const wire::OpenScope& scope) {
             return scope.token == token;
           });
  };
  std::vector<std::uint32_t> over;
  for (const TrackScope& scope : thread.track.open())
    if (!isOpen(scope.token))
      over.push_back(scope.token);
  if (!over.empty()) {
    const std::int64_t untilNs = advance(thread, claimTicks);
    for (auto token = over.rbegin(); token != over.rend(); ++token)
      loseEnd(thread, *token, untilNs);
  }
  for (const wire::OpenScope& scope : scopes) {
    const auto kind = sliceKind(static_cast<std::uint8_t>(scope.kind));
    if (!kind || thread.track.find(scope.token) != nullptr)
      continue;
    beginScope(thread, scope, *kind);
    if (kind == model::SliceKind::Iteration && thread.track.find(scope.token) != nullptr)
      takeNumberBack();
  }
}

void ImageBuilder::closeThread(Thread& thread) {
  std::vector<TrackScope>& open = thread.track.open();
  for (; !open.empty(); open.pop_back())
    storeScope(thread, open.back());
  thread.changed = true;
}

void ImageBuilder::finish(const LossTable& losses,
                          const PluginLossTable& pluginLosses,
                          const LostRecords& lost) {
  for (auto& [index, thread] : threads_)
    closeThread(*thread);
  for (auto& [id, range] : ranges_)
    endRange(range, std::nullopt);
  ranges_.clear();
  counts_.unbalanced += earlyEnds_.size();
  earlyEnds_.clear();
  save();
  collectives_.finish();
  if (!process_.row.endNs && process_.row.state != model::ProcessState::Running)
    process_.row.endNs =
        process_.row.state == model::ProcessState::Replaced ? lastNs_ : std::max(lastNs_, seenNs_);
  sink_.update(process_.row);
  addLosses(losses, lost);
  plugins_.addLosses(pluginLosses);
  if (counts_.skipped + counts_.damaged > 0)
    addNote(model::Severity::Warning,
            fmt::format(
                "{} records of {} could not be read", counts_.skipped + counts_.damaged, spool_));
}

void ImageBuilder::addLosses(const LossTable& losses, const LostRecords& lost) {
  for (std::size_t probe = 0; probe < losses.size(); ++probe) {
    const std::string_view who = probeWord(static_cast<wire::Probe>(probe));
    for (std::size_t kind = 0; kind < losses[probe].size(); ++kind) {
      const std::string_view what = recordWord(static_cast<wire::RecordKind>(kind));
      for (std::size_t reason = 0; reason < losses[probe][kind].size(); ++reason)
        addLoss(who,
                what,
                losses[probe][kind][reason],
                lossWord(static_cast<wire::LossReason>(reason)));
      addLoss(who, what, lost.count[probe][kind], lost.reason);
    }
  }
  addLoss("process", "exec", notFollowed_, "not followed");
  addLoss("process", "unknown", counts_.skipped + counts_.damaged, "damaged");
  addLoss("process", "unknown", lost.letGo ? 0 : counts_.unbalanced, "unbalanced");
  addLoss("annotation", "iteration info", lost.letGo ? 0 : counts_.strayInfos, "no iteration");
  addLoss(probeWord(wire::Probe::Nccl),
          recordWord(wire::RecordKind::CollectivePart),
          collectives_.lostParts(),
          "no collective");
}

void ImageBuilder::addLoss(std::string_view probe,
                           std::string_view kind,
                           std::uint64_t count,
                           std::string_view reason) {
  if (count > 0)
    sink_.add(model::Loss{probe,
                          kind,
                          static_cast<std::int64_t>(std::min<std::uint64_t>(count, INT64_MAX)),
                          reason,
                          process_.row.id});
}

void ImageBuilder::addNote(model::Severity severity, std::string_view text) {
  model::Note note;
  note.tsNs = lastNs_;
  note.processId = process_.row.id;
  note.severity = severity;
  note.source = "recorder";
  note.text = text;
  sink_.add(note);
}

}  // namespace sonde::ingest
