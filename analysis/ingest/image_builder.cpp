#include "analysis/ingest/image_builder.h"

#include "analysis/base/utf8.h"
#include "analysis/ingest/record_walk.h"
#include "analysis/ingest/wire_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde::ingest {
namespace {

// Loads a definition that is at least as long as its kind needs.
template <typename Definition>
std::optional<Definition> loadDefinition(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(Definition))
    return std::nullopt;
  return loadRecord<Definition>(bytes.data());
}

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

// A thread that has ended may come back: its slots are not read in the order of their records.
ImageBuilder::Thread& ImageBuilder::threadOf(std::uint32_t index) {
  const auto found = threads_.find(index);
  if (found != threads_.end())
    return *found->second;
  if (const std::string blob = sink_.state(spool_, "thread", index); !blob.empty())
    return *(threads_[index] = unpackThread(blob));
  // Only in a damaged file have records come before the definition of their thread.
  wire::ThreadDefinition unknown{};
  unknown.thread = index;
  return addThread(unknown);
}

void ImageBuilder::define(std::span<const std::byte> bytes) {
  const auto header = loadDefinition<wire::DefinitionHeader>(bytes);
  if (!header)
    return;
  switch (header->kind) {
    case wire::DefinitionKind::String: {
      const auto string = loadDefinition<wire::StringDefinition>(bytes);
      const bool fits = string && string->length <= bytes.size() - sizeof(wire::StringDefinition);
      const auto* text =
          reinterpret_cast<const char*>(bytes.data()) + sizeof(wire::StringDefinition);
      if (!fits || !dictionary_.define(string->id, {text, string->length}))
        ++counts_.damaged;
      return;
    }
    case wire::DefinitionKind::Code: {
      const auto code = loadDefinition<wire::CodeDefinition>(bytes);
      if (!code || code->length > bytes.size() - sizeof *code)
        ++counts_.damaged;
      else
        addCode({reinterpret_cast<const char*>(bytes.data()) + sizeof *code, code->length});
      return;
    }
    case wire::DefinitionKind::Thread:
    case wire::DefinitionKind::ThreadName:
    case wire::DefinitionKind::Channel:
    case wire::DefinitionKind::Communicator:
    case wire::DefinitionKind::Device:
    case wire::DefinitionKind::Stream:
    case wire::DefinitionKind::Plugin:
    case wire::DefinitionKind::Counter:
      waiting_.emplace_back(bytes.begin(), bytes.end());
      return;
  }
  ++counts_.skipped;
}

void ImageBuilder::definitionsDone() {
  for (const std::vector<std::byte>& bytes : waiting_) {
    bool whole = true;
    const auto device = [&](const auto& definition) {
      whole = definition.has_value();
      if (whole)
        devices_.define(*definition);
    };
    const auto with = [&](auto definition, auto& rows, auto use) {
      whole = definition.has_value();
      if (whole)
        (rows.*use)(*definition);
    };
    switch (loadRecord<wire::DefinitionHeader>(bytes.data()).kind) {
      case wire::DefinitionKind::Thread:
        with(loadDefinition<wire::ThreadDefinition>(bytes), *this, &ImageBuilder::defineThread);
        break;
      case wire::DefinitionKind::ThreadName:
        with(loadDefinition<wire::ThreadNameDefinition>(bytes),
             *this,
             &ImageBuilder::defineThreadName);
        break;
      case wire::DefinitionKind::Channel:
        defineChannel(bytes);
        break;
      case wire::DefinitionKind::Plugin:
        with(loadDefinition<wire::PluginDefinition>(bytes), plugins_, &PluginRows::definePlugin);
        break;
      case wire::DefinitionKind::Counter:
        with(loadDefinition<wire::CounterDefinition>(bytes), plugins_, &PluginRows::defineCounter);
        break;
      case wire::DefinitionKind::Device:
        device(loadDefinition<wire::DeviceDefinition>(bytes));
        break;
      case wire::DefinitionKind::Stream:
        device(loadDefinition<wire::StreamDefinition>(bytes));
        break;
      default:
        defineCommunicator(bytes);
        break;
    }
    counts_.damaged += whole ? 0 : 1;
  }
  waiting_.clear();
}

void ImageBuilder::defineThread(const wire::ThreadDefinition& definition) {
  if (!threads_.contains(definition.thread) &&
      sink_.state(spool_, "thread", definition.thread).empty())
    addThread(definition);
}

ImageBuilder::Thread& ImageBuilder::addThread(const wire::ThreadDefinition& definition) {
  auto thread = std::make_unique<Thread>();
  thread->index = definition.thread;
  thread->row.processId = process_.row.id;
  thread->row.tid = definition.tid;
  if (definition.startTicks != 0)
    thread->row.startNs = time_.toNs(definition.startTicks);
  std::vector<ThreadOfTid>& same = threadsByTid_[definition.tid];
  if (!same.empty() && same.back().isOnlyCalled) {
    thread->row.id = same.back().row;
    sink_.update(thread->row);
  } else {
    thread->row.id = sink_.add(thread->row);
  }
  noteTid(*thread);
  return *(threads_[definition.thread] = std::move(thread));
}

void ImageBuilder::defineThreadName(const wire::ThreadNameDefinition& definition) {
  Thread& thread = threadOf(definition.thread);
  thread.changed = thread.changed || thread.name != definition.name;
  thread.name = definition.name;
}

void ImageBuilder::defineChannel(std::span<const std::byte> bytes) {
  const auto definition = loadDefinition<wire::ChannelDefinition>(bytes);
  const auto kind =
      definition ? channelKind(static_cast<std::uint8_t>(definition->kind)) : std::nullopt;
  if (!kind || std::size_t{definition->localBytes} + definition->remoteBytes >
                   bytes.size() - sizeof(wire::ChannelDefinition)) {
    ++counts_.damaged;
    return;
  }
  if (channels_.contains(definition->id))
    return;
  const std::string_view addresses(
      reinterpret_cast<const char*>(bytes.data()) + sizeof(wire::ChannelDefinition),
      std::size_t{definition->localBytes} + definition->remoteBytes);
  const std::string local = toText(addresses.substr(0, definition->localBytes));
  const std::string remote = toText(addresses.substr(definition->localBytes));
  model::Channel row;
  row.processId = process_.row.id;
  row.kind = *kind;
  row.local = local;
  row.remote = remote;
  row.inherited = (definition->flags & wire::ChannelDefinition::kInherited) != 0;
  row.openNs = time_.toNs(definition->openTicks);
  row.id = sink_.add(row);
  channels_.emplace(definition->id, row.id);
  sink_.setState(spool_, "channel", definition->id, row.id.value);
}

void ImageBuilder::defineCommunicator(std::span<const std::byte> bytes) {
  const auto definition = loadDefinition<wire::CommunicatorDefinition>(bytes);
  const bool named = bytes.size() > sizeof(wire::CommunicatorDefinition);
  if (!definition || definition->size < 0 ||
      (named && static_cast<std::size_t>(definition->size) >
                    (bytes.size() - sizeof(wire::CommunicatorDefinition)) / sizeof(std::int32_t))) {
    ++counts_.damaged;
    return;
  }
  if (communicators_.contains(definition->id))
    return;
  model::Communicator row;
  row.processId = process_.row.id;
  row.jobKey = dictionary_.text(definition->key);
  row.size = definition->size;
  if (definition->position >= 0)
    row.position = definition->position;
  row.backend = probeWord(definition->probe);
  row.id = sink_.add(row);
  for (std::int32_t position = 0; named && position < definition->size; ++position) {
    const auto rank =
        loadRecord<std::int32_t>(bytes.data() + sizeof(wire::CommunicatorDefinition) +
                                 static_cast<std::size_t>(position) * sizeof(std::int32_t));
    model::CommunicatorMember member;
    member.communicatorId = row.id;
    member.position = position;
    if (rank >= 0)
      member.rank = rank;
    if (position == definition->position)
      member.processId = process_.row.id;
    sink_.add(member);
  }
  communicators_.emplace(definition->id, row.id);
  sink_.setState(spool_, "communicator", definition->id, row.id.value);
}

// The scopes that the thread itself says were open. Where they differ from ours, records were lost
// in between: a begin that we missed is made up from the slot's prefix; of a scope whose end we
// missed is known that it came before, unless it is the very record that the slot was claimed for.
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
    process_.row.endNs = lastNs_;
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
