#include "tests/support/spool_recording.h"

#include "collector/wire/nccl_records.h"

#include <algorithm>
#include <cstring>
#include <fstream>

namespace sonde::test {
namespace {

struct Communicator {
  std::string key;
  std::vector<std::int32_t> members;
  std::int32_t size = 0;
  std::int32_t position = -1;
};

template <typename Record>
Record as(std::span<const std::byte> bytes) {
  Record record;
  std::memcpy(&record, bytes.data(), sizeof record);
  return record;
}

class Decoder {
 public:
  explicit Decoder(recorder::SpoolReader& reader) : reader_(reader) {
    out_.identity = reader.identity();
    out_.losses = reader.losses();
  }

  RecordedProcess decode() {
    reader_.newDefinitions([this](std::span<const std::byte> bytes) { define(bytes); });
    for (const recorder::SpoolSlot& slot : reader_.snapshot()) {
      thread_ = slot.thread;
      last_ = nullptr;
      std::span<const std::byte> bytes = reader_.readRecords(slot, slot.firstRecord);
      while (bytes.size() >= sizeof(wire::RecordHeader)) {
        const auto header = as<wire::RecordHeader>(bytes);
        visit(header, bytes);
        bytes = bytes.subspan(header.size);
      }
    }
    return std::move(out_);
  }

 private:
  using Place = std::vector<RecordedSlice> RecordedProcess::*;

  void define(std::span<const std::byte> bytes) {
    const auto header = as<wire::DefinitionHeader>(bytes);
    if (header.kind == wire::DefinitionKind::String) {
      const auto record = as<wire::StringDefinition>(bytes);
      const auto* text = reinterpret_cast<const char*>(bytes.data() + sizeof record);
      strings_[record.id] = std::string(text, record.length);
    } else if (header.kind == wire::DefinitionKind::ThreadName) {
      const auto record = as<wire::ThreadNameDefinition>(bytes);
      out_.threadNames[record.thread] = strings_[record.name];
    } else if (header.kind == wire::DefinitionKind::Channel) {
      const auto record = as<wire::ChannelDefinition>(bytes);
      const auto* local = reinterpret_cast<const char*>(bytes.data() + sizeof record);
      channels_[record.id] = {record.kind,
                              (record.flags & wire::ChannelDefinition::kInherited) != 0,
                              {local, record.localBytes},
                              {local + record.localBytes, record.remoteBytes}};
    } else if (header.kind == wire::DefinitionKind::Communicator) {
      const auto record = as<wire::CommunicatorDefinition>(bytes);
      Communicator& entry = communicators_[record.id];
      entry = {strings_[record.key], {}, record.size, record.position};
      entry.members.resize(((header.claim & wire::DefinitionHeader::kSizeMask) - sizeof record) /
                           sizeof(std::int32_t));
      std::memcpy(entry.members.data(),
                  bytes.data() + sizeof record,
                  entry.members.size() * sizeof(std::int32_t));
      if (entry.members.size() > static_cast<std::size_t>(record.size))
        entry.members.resize(static_cast<std::size_t>(record.size));
    }
  }

  void visit(const wire::RecordHeader& header, std::span<const std::byte> bytes) {
    switch (header.kind) {
      case wire::RecordKind::ScopeBegin:
        return beginScope(as<wire::ScopeBegin>(bytes));
      case wire::RecordKind::ScopeEnd:
        return endScope(as<wire::ScopeEnd>(bytes));
      case wire::RecordKind::Call: {
        const auto record = as<wire::Call>(bytes);
        return add({strings_[header.subject],
                    kindOf(header),
                    thread_,
                    record.beginTicks,
                    record.endTicks,
                    thread_,
                    depth(),
                    {}});
      }
      case wire::RecordKind::RangeBegin: {
        const auto record = as<wire::RangeBegin>(bytes);
        ranges_[record.rangeId] = out_.slices.size();
        return add(
            {strings_[header.subject], kindOf(header), thread_, record.ticks, 0, 0, depth(), {}});
      }
      case wire::RecordKind::RangeEnd: {
        // The range may have begun in a slot of another thread that comes later.
        rangeEnds_.push_back({as<wire::RangeEnd>(bytes), thread_});
        return;
      }
      case wire::RecordKind::Mark:
        out_.marks.push_back({strings_[header.subject],
                              wire::SliceKind::Mark,
                              thread_,
                              as<wire::Mark>(bytes).ticks,
                              0,
                              0,
                              depth(),
                              {}});
        last_ = &out_.marks.back().args;
        return;
      case wire::RecordKind::Arg:
        return addArg(as<wire::Arg>(bytes));
      case wire::RecordKind::Collective:
        return addCollective(as<wire::Collective>(bytes));
      case wire::RecordKind::Transfer:
        return addTransfer(as<wire::Transfer>(bytes));
      case wire::RecordKind::CollectivePart:
        if ((header.detail & wire::ProxyStep::kDetail) != 0)
          return addStep(as<wire::ProxyStep>(bytes));
        if (header.detail == wire::CollectiveEnd::kDetail)
          addEnd(as<wire::CollectiveEnd>(bytes));
        return;
      case wire::RecordKind::Fork:
        return out_.forks.push_back(static_cast<std::int32_t>(header.subject));
      case wire::RecordKind::Exec:
        return out_.execs.push_back(
            {strings_[header.subject], strings_[as<wire::Exec>(bytes).reason]});
      default:
        return;
    }
  }

  static wire::SliceKind kindOf(const wire::RecordHeader& header) {
    return static_cast<wire::SliceKind>(header.detail);
  }
  std::uint32_t depth() { return static_cast<std::uint32_t>(open_[thread_].size()); }

  void add(RecordedSlice slice) {
    out_.slices.push_back(std::move(slice));
    last_ = &out_.slices.back().args;
  }

  void beginScope(const wire::ScopeBegin& record) {
    const std::size_t place = out_.slices.size();
    add({strings_[record.header.subject],
         kindOf(record.header),
         thread_,
         record.ticks,
         0,
         0,
         depth(),
         {}});
    open_[thread_].push_back(record.token);
    scopes_[{thread_, record.token}] = place;
  }

  void endScope(const wire::ScopeEnd& record) {
    std::erase(open_[thread_], record.header.subject);
    if (const auto found = scopes_.find({thread_, record.header.subject}); found != scopes_.end()) {
      out_.slices[found->second].end = record.ticks;
      out_.slices[found->second].endThread = thread_;
    }
  }

  void addArg(const wire::Arg& record) {
    std::string value;
    switch (static_cast<wire::ArgType>(record.header.detail & 0xf)) {
      case wire::ArgType::Text:
        value = strings_[static_cast<std::uint32_t>(record.bits)];
        break;
      case wire::ArgType::Int:
        value = std::to_string(static_cast<std::int64_t>(record.bits));
        break;
      case wire::ArgType::Double: {
        double number = 0;
        std::memcpy(&number, &record.bits, sizeof number);
        value = std::to_string(number);
        break;
      }
    }
    const std::string& key = strings_[record.header.subject];
    if ((record.header.detail & wire::Arg::kOfProcess) != 0)
      out_.texts[key] = value;
    else if (const auto found = scopes_.find({thread_, record.token}); found != scopes_.end())
      out_.slices[found->second].args[key] = value;
    else if (record.token == 0 && last_ != nullptr)
      (*last_)[key] = value;
  }

  void addTransfer(const wire::Transfer& record) {
    const std::uint8_t flags = record.header.detail;
    out_.transfers.push_back({channels_[record.header.subject],
                              (flags & wire::Transfer::kReceive) != 0,
                              (flags & wire::Transfer::kInexact) == 0,
                              record.offset,
                              record.bytes,
                              thread_,
                              record.beginTicks,
                              record.endTicks});
  }

  void addCollective(const wire::Collective& record) {
    const Communicator& communicator = communicators_[record.header.subject];
    out_.collectives.push_back({static_cast<wire::CollectiveOp>(record.header.detail),
                                strings_[record.name],
                                communicator.key,
                                communicator.members,
                                communicator.size,
                                communicator.position,
                                record.seq,
                                record.bytes,
                                record.sendBytes,
                                record.recvBytes,
                                record.root,
                                strings_[record.algorithm],
                                thread_,
                                record.beginTicks,
                                record.endTicks,
                                record.peer,
                                strings_[record.protocol],
                                record.channels,
                                record.flags,
                                record.number});
  }

  void addStep(const wire::ProxyStep& record) {
    const std::uint8_t flags = record.header.detail;
    out_.steps.push_back({channels_[record.header.subject],
                          (flags & wire::ProxyStep::kReceive) != 0,
                          (flags & wire::ProxyStep::kInexact) == 0,
                          record.offset,
                          record.bytes,
                          record.collective,
                          record.step,
                          record.beginTicks,
                          record.endTicks});
  }

  void addEnd(const wire::CollectiveEnd& record) {
    RecordedEnd& end = out_.ends[record.collective];
    end.ticks = std::max(end.ticks, record.ticks);
    if ((record.header.subject & wire::CollectiveEnd::kUnfinished) != 0)
      end.unfinished = true;
  }

 public:
  void closeRanges(RecordedProcess& process) {
    for (const auto& [record, thread] : rangeEnds_) {
      if (const auto found = ranges_.find(record.rangeId); found != ranges_.end()) {
        process.slices[found->second].end = record.ticks;
        process.slices[found->second].endThread = thread;
      } else {
        ++process.strayRangeEnds;
      }
    }
  }

 private:
  recorder::SpoolReader& reader_;
  RecordedProcess out_;
  std::map<std::uint32_t, std::string> strings_;
  std::map<std::uint32_t, Communicator> communicators_;
  std::map<std::uint32_t, RecordedChannel> channels_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> scopes_;  // thread, token
  std::map<std::uint64_t, std::size_t> ranges_;
  std::vector<std::pair<wire::RangeEnd, std::uint32_t>> rangeEnds_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> open_;
  std::map<std::string, std::string>* last_ = nullptr;
  std::uint32_t thread_ = 0;
};

}  // namespace

const RecordedSlice& RecordedProcess::slice(const std::string& name) const {
  static const RecordedSlice none;
  const auto found = std::find_if(
      slices.begin(), slices.end(), [&](const RecordedSlice& s) { return s.name == name; });
  return found == slices.end() ? none : *found;
}

std::uint64_t RecordedProcess::lost(wire::Probe probe) const {
  std::uint64_t sum = 0;
  for (const auto& byReason : losses[static_cast<std::size_t>(probe)]) {
    for (const std::uint64_t count : byReason)
      sum += count;
  }
  return sum;
}

void SpoolRecording::setProbes(std::uint32_t mask) {
  std::fstream page(folder_.path() / "session", std::ios::binary | std::ios::in | std::ios::out);
  page.seekp(offsetof(wire::SessionPage, probeMask));
  page.write(reinterpret_cast<const char*>(&mask), sizeof mask);
}

std::vector<std::string> SpoolRecording::environment() const {
  return {"SONDE_SESSION=" + folder_.path().string(),
          "LD_PRELOAD=" + preloadLibrary(),
          "NVTX_INJECTION64_PATH=" + preloadLibrary(),
          "CUDA_INJECTION64_PATH=" + preloadLibrary()};
}

Finished SpoolRecording::run(const std::vector<std::string>& words,
                             const std::vector<std::string>& settings) {
  std::vector<std::string> command = {"env"};
  for (const std::string& setting : environment())
    command.push_back(setting);
  command.insert(command.end(), settings.begin(), settings.end());
  command.insert(command.end(), words.begin(), words.end());
  return runProgram(command);
}

std::vector<RecordedProcess> SpoolRecording::read() const {
  std::vector<RecordedProcess> processes;
  for (const std::filesystem::path& path : folder_.files()) {
    Result<recorder::SpoolReader> reader =
        recorder::SpoolReader::open(path, recorder::SpoolReader::Access::ReadOnly);
    if (!reader)
      continue;
    Decoder decoder(*reader);
    RecordedProcess process = decoder.decode();
    decoder.closeRanges(process);
    processes.push_back(std::move(process));
  }
  std::sort(
      processes.begin(), processes.end(), [](const RecordedProcess& a, const RecordedProcess& b) {
        return a.identity.pid < b.identity.pid;
      });
  return processes;
}

std::string preloadLibrary() {
  return SONDE_PRELOAD_LIBRARY;
}

}  // namespace sonde::test
