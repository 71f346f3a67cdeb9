// ImageBuilder: definitions that records refer to by number. Those with rows of their own wait for
// the names that they refer to.
#include "analysis/ingest/rows/record_walk.h"
#include "analysis/ingest/rows/wire_words.h"
#include "analysis/ingest/spool/image_builder.h"
#include "base/utf8.h"

#include <memory>
#include <optional>
#include <utility>

namespace sonde::ingest {
namespace {

// Loads a definition if it has at least the size of its kind.
template <typename Definition>
std::optional<Definition> loadDefinition(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(Definition))
    return std::nullopt;
  return loadRecord<Definition>(bytes.data());
}

}  // namespace

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

}  // namespace sonde::ingest
