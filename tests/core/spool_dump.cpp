#include "tests/core/spool_dump.h"

#include "collector/core/attach.h"
#include "tests/support/in_child.h"
#include "tests/support/spool_folder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sonde::core {
namespace {

std::string wordOf(wire::RecordKind kind) {
  switch (kind) {
    case wire::RecordKind::ScopeBegin:
      return "begin";
    case wire::RecordKind::ScopeEnd:
      return "end";
    case wire::RecordKind::Scalar:
      return "scalar";
    case wire::RecordKind::Mark:
      return "mark";
    case wire::RecordKind::Fork:
      return "fork";
    default:
      return "kind " + std::to_string(static_cast<int>(kind));
  }
}

void addDefinition(std::span<const std::byte> bytes, SpoolDump& dump) {
  wire::DefinitionHeader header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.kind == wire::DefinitionKind::String) {
    wire::StringDefinition string{};
    std::memcpy(&string, bytes.data(), sizeof string);
    dump.strings[string.id].assign(reinterpret_cast<const char*>(bytes.data()) + sizeof string,
                                   string.length);
  } else if (header.kind == wire::DefinitionKind::ThreadName) {
    wire::ThreadNameDefinition name{};
    std::memcpy(&name, bytes.data(), sizeof name);
    dump.threadNames[name.thread] = dump.strings[name.name];
  } else if (header.kind == wire::DefinitionKind::Thread) {
    ++dump.threads;
  }
}

void addRecords(std::span<const std::byte> bytes, std::uint32_t thread, SpoolDump& dump) {
  for (std::size_t at = 0; at + sizeof(wire::RecordHeader) <= bytes.size();) {
    wire::RecordHeader header{};
    std::memcpy(&header, &bytes[at], sizeof header);
    if (header.size < sizeof header || header.size > bytes.size() - at) {
      ADD_FAILURE() << "record of " << header.size << " bytes at " << at;
      return;
    }
    const auto whole = bytes.subspan(at, header.size);
    dump.records.push_back({thread, header, {whole.begin(), whole.end()}});
    at += header.size;
  }
}

}  // namespace

std::vector<std::string> SpoolDump::story() const {
  std::vector<std::string> lines;
  std::map<std::uint64_t, std::string> open;
  for (const DumpedRecord& record : records) {
    if (record.header.kind == wire::RecordKind::ClockSync)
      continue;
    const auto named = strings.find(record.header.subject);
    std::string subject =
        named != strings.end() ? named->second : std::to_string(record.header.subject);
    const std::uint64_t thread = std::uint64_t{record.thread} << 32;
    if (record.header.kind == wire::RecordKind::ScopeBegin)
      open[thread | record.as<wire::ScopeBegin>().token] = subject;
    if (record.header.kind == wire::RecordKind::ScopeEnd)
      subject = open[thread | record.header.subject];
    lines.push_back(wordOf(record.header.kind) + " " + subject);
  }
  return lines;
}

std::uint64_t SpoolDump::lost(wire::LossReason reason) const {
  std::uint64_t count = 0;
  for (const auto& ofProbe : losses) {
    for (const auto& ofKind : ofProbe)
      count += ofKind[static_cast<std::size_t>(reason)];
  }
  return count;
}

SpoolDump dumpSpool(const std::filesystem::path& file) {
  SpoolDump dump{};
  auto reader = recorder::SpoolReader::open(file, recorder::SpoolReader::Access::ReadOnly);
  if (!reader) {
    ADD_FAILURE() << reader.error().message;
    return dump;
  }
  dump.identity = reader->identity();
  const std::vector<recorder::SpoolSlot> slots = reader->snapshot();
  for (const recorder::SpoolSlot& slot : slots)
    addRecords(reader->readRecords(slot, slot.firstRecord), slot.thread, dump);
  reader->newDefinitions([&](std::span<const std::byte> bytes) { addDefinition(bytes, dump); });
  if (!slots.empty())
    for (const wire::OpenScope& scope : reader->readScopes(slots.back()))
      dump.opened.push_back(dump.strings[scope.name]);
  dump.losses = reader->losses();
  dump.finished = reader->finished();
  return dump;
}

std::vector<SpoolDump> record(const std::function<void()>& body, std::uint64_t limit) {
  const test::SpoolFolder folder(limit);
  EXPECT_TRUE(test::inChild([&] {
    EXPECT_TRUE(attach(folder.path().c_str(), nullptr));
    body();
  }));
  std::vector<SpoolDump> dumps;
  for (const auto& file : folder.files())
    dumps.push_back(dumpSpool(file));
  std::sort(dumps.begin(), dumps.end(), [](const SpoolDump& a, const SpoolDump& b) {
    return a.identity.forked < b.identity.forked;
  });
  return dumps;
}

}  // namespace sonde::core
