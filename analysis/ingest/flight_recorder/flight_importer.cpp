#include "analysis/ingest/flight_recorder/flight_importer.h"

#include "analysis/model/times.h"
#include "base/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

namespace sonde::ingest {
namespace {

constexpr int kMajor = 2;
constexpr int kLastMinor = 10;

// The number at the end of the name: "_dump_12". PyTorch appends the rank to any prefix.
std::optional<std::int64_t> numberAtEnd(const std::filesystem::path& file) {
  std::string name = file.filename().string();
  for (const std::string_view ending : {".gz", ".json", ".pickle", ".pkl"})
    if (name.ends_with(ending))
      name.resize(name.size() - ending.size());
  const std::size_t begin = name.find_last_not_of("0123456789") + 1;
  std::int32_t number = 0;
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + begin, last, number);
  return error == std::errc{} && end == last ? std::optional<std::int64_t>(number) : std::nullopt;
}

bool isBadTime(const FlightEntry& entry) noexcept {
  return entry.createdNs <= 0 || !model::isTime(entry.createdNs) ||
         !model::isTime(entry.completedNs.value_or(0));
}

}  // namespace

bool isFlightDump(const Value& value) {
  return value.find("version").text().has_value() &&
         (value.find("entries").isSequence() || value.find("pg_config").isDict());
}

FlightImporter::FlightImporter(store::TraceWriter& writer,
                               std::string hostName,
                               JobGroups& groups,
                               model::OptionalInt rank)
    : writer_(writer),
      jobGroups_(groups),
      rank_(rank),
      places_(writer, std::move(hostName)),
      stacks_(writer) {}

Result<ImportedFile> FlightImporter::import(const Value& dump, const std::filesystem::path& file) {
  version_ = toText(dump.find("version").text().value_or(""));
  SONDE_TRY(checkVersion(file.string()));
  readEntries(dump.find("entries"));
  if (entries_.empty() && result_.faults.events > 0)
    return Error{ErrorCode::Corrupt,
                 fmt::format("'{}': none of its {} entries can be read; the first is {}",
                             file.string(),
                             result_.faults.events,
                             result_.faults.first)};
  groups_ = flightGroupsOf(dump, entries_);
  if (groups_.empty())
    return Error{ErrorCode::Corrupt,
                 fmt::format("'{}': the flight-recorder dump has neither entries nor groups: give "
                             "the dump of a job that communicates",
                             file.string())};
  findRank(dump, file);
  for (const FlightEntry& entry : entries_) {
    const std::string tid = entry.thread ? std::to_string(*entry.thread) : "host";
    const Label label{tid, entry.thread};
    tracks_.push_back(places_.track({}, label));
    if (!entry.threadName.empty())
      places_.nameThread({}, label, entry.threadName);
    places_.cover(tracks_.back(),
                  entry.createdNs,
                  std::max(entry.createdNs, entry.completedNs.value_or(entry.createdNs)));
  }
  SONDE_TRY(places_.finish(0));
  result_.process = places_.idOf(ImportedPlaces::kMain);
  SONDE_TRY(addArg(
      model::Owner::Process, result_.process, kFlightRecorderKey, std::string_view(version_)));
  SONDE_TRY(addGroups());
  SONDE_TRY(addEntries());
  return std::move(result_);
}

Result<void> FlightImporter::checkVersion(const std::string& file) {
  int major = 0;
  int minor = 0;
  if (std::sscanf(version_.c_str(), "%d.%d", &major, &minor) != 2 || major != kMajor)
    return Error{ErrorCode::Unsupported,
                 fmt::format("'{}' is a flight-recorder dump of version '{}', but Sonde reads 2.0 "
                             "to 2.10: write it with a PyTorch that has such a version",
                             file,
                             version_)};
  if (minor > kLastMinor)
    result_.warnings.push_back(fmt::format(
        "its version {} is newer than 2.10: members that Sonde does not know were left out",
        version_));
  return {};
}

void FlightImporter::readEntries(const Value& entries) {
  for (std::size_t at = 0; at < entries.size(); ++at) {
    std::string_view missing;
    auto entry = flightEntryOf(entries.at(at), missing);
    if (!entry) {
      result_.faults.add([&] { return fmt::format("entry {}, which has no {}", at, missing); });
    } else if (isBadTime(*entry)) {
      ++result_.badTimes;
    } else {
      entries_.push_back(*std::move(entry));
    }
  }
}

// A number in the file's name counts only if the rank is in all groups.
void FlightImporter::findRank(const Value& dump, const std::filesystem::path& file) {
  const std::optional<std::int64_t> candidates[] = {
      dump.find("rank").integer(), rank_, numberAtEnd(file), rankInAll(groups_)};
  rank_.reset();
  for (const auto& candidate : candidates)
    if (!rank_ && candidate && *candidate >= 0 && mayBeRank(groups_, *candidate))
      rank_ = candidate;
  model::OptionalInt worldSize;
  for (const auto& [name, group] : groups_)
    if (group.isDefault() && !group.ranks.empty())
      worldSize = static_cast<std::int64_t>(group.ranks.size());
  places_.setRank(rank_, worldSize);
  result_.worldSize = worldSize;
  if (rank_)
    result_.ranks.insert(*rank_);
  else
    result_.warnings.push_back(
        "neither its name nor its groups give the rank: name the file with it (nccl_trace_rank_3)");
}

template <typename Id>
Result<void> FlightImporter::addArg(model::Owner owner,
                                    Id id,
                                    std::string_view key,
                                    model::ArgValue value) {
  SONDE_TRY_ASSIGN(const model::StringId keyId, writer_.intern(key));
  return writer_.add(model::Arg{owner, id.value, keyId, value});
}

Result<void> FlightImporter::addGroups() {
  for (const auto& [name, group] : groups_) {
    const std::string key = jobGroups_.keyOf(group);
    model::Communicator row;
    row.processId = result_.process;
    row.jobKey = key;
    row.size = static_cast<std::int64_t>(group.ranks.size());
    const auto own =
        rank_ ? std::find(group.ranks.begin(), group.ranks.end(), *rank_) : group.ranks.end();
    if (own != group.ranks.end())
      row.position = own - group.ranks.begin();
    row.backend = "nccl";
    SONDE_TRY_ASSIGN(const model::CommunicatorId id, writer_.add(row));
    ids_[name] = id;
    SONDE_TRY(addMembers(group, id));
    SONDE_TRY(addGroupFacts(group, id));
    // PyTorch numbers the collectives of a group from 1.
    if (group.firstSeq.value_or(1) > 1)
      SONDE_TRY(
          writer_.add(model::Loss{"import", key, *group.firstSeq - 1, "ring", result_.process}));
  }
  return {};
}

Result<void> FlightImporter::addMembers(const FlightGroup& group, model::CommunicatorId id) {
  for (std::size_t position = 0; position < group.ranks.size(); ++position) {
    model::CommunicatorMember member;
    member.communicatorId = id;
    member.position = static_cast<std::int64_t>(position);
    member.rank = group.ranks[position];
    if (member.rank == rank_)
      member.processId = result_.process;
    SONDE_TRY(writer_.add(member));
  }
  return {};
}

Result<void> FlightImporter::addGroupFacts(const FlightGroup& group, model::CommunicatorId id) {
  const std::pair<std::string_view, std::optional<std::int64_t>> facts[] = {
      {"last_enqueued", group.lastEnqueued},
      {"last_completed", group.lastCompleted},
      {"last_dropped",
       group.firstSeq.value_or(1) > 1 ? std::optional(*group.firstSeq - 1) : std::nullopt},
      {"has_messages", group.hasMessages ? std::optional<std::int64_t>(1) : std::nullopt}};
  for (const auto& [key, value] : facts)
    if (value)
      SONDE_TRY(addArg(model::Owner::Communicator, id, key, *value));
  return {};
}

model::Collective FlightImporter::rowOf(const FlightEntry& entry) const {
  model::Collective row;
  row.processId = result_.process;
  row.communicatorId = ids_.at(entry.group);
  row.seq = entry.seq;
  row.op = *entry.op;
  row.dtype = entry.dtype;
  row.sendBytes = entry.sendBytes;
  row.recvBytes = entry.recvBytes;
  row.root = entry.root;
  row.peer = entry.peer;
  const auto members = static_cast<std::int64_t>(groups_.at(entry.group).ranks.size());
  const bool isGather = row.op == model::CollectiveOp::Gather;
  const bool isScatter = row.op == model::CollectiveOp::Scatter;
  // Only the root has the whole; each rank has the parts.
  const auto part = isGather ? row.sendBytes : row.recvBytes;
  std::int64_t whole = 0;
  if (!isGather && !isScatter)
    row.bytes = std::max(row.sendBytes, row.recvBytes);
  else if (part && members > 0 && !__builtin_mul_overflow(*part, members, &whole))
    row.bytes = whole;
  row.startNs = entry.createdNs;
  if (entry.completedNs)
    row.durNs = std::max<std::int64_t>(*entry.completedNs - entry.createdNs, 0);
  return row;
}

Result<void> FlightImporter::addEntries() {
  std::uint64_t kept = 0;
  // The operation that a coalesced call without a name of its own belongs to.
  std::map<std::pair<std::string, std::int64_t>, model::CollectiveOp> parts;
  for (std::size_t at = 0; at < entries_.size(); ++at) {
    FlightEntry& entry = entries_[at];
    const bool isMessage = entry.op && model::isPointToPoint(*entry.op);
    ++result_.events[isMessage ? "message" : "collective"];
    const std::pair call(entry.group, entry.seq.value_or(-1));
    if (const auto part = parts.find(call); entry.isCoalesced && part != parts.end())
      entry.op = part->second;
    if (!entry.op) {
      // Without parts it closes sends and receives, which have rows of their own.
      ++(entry.isCoalesced ? result_.notKept : result_.unsupported);
      continue;
    }
    parts.emplace(call, *entry.op);
    ++kept;
    result_.negative += entry.completedNs && *entry.completedNs < entry.createdNs ? 1U : 0U;
    SONDE_TRY_ASSIGN(const model::CollectiveId id, writer_.add(rowOf(entry)));
    SONDE_TRY(addArg(model::Owner::Collective, id, "args", std::string_view(entry.args)));
    if (entry.isCompleted && !entry.completedNs)
      SONDE_TRY(addArg(model::Owner::Collective, id, "completed", std::int64_t{1}));
    SONDE_TRY(addSample(entry, tracks_[at]));
  }
  result_.kept = kept;
  if (result_.unsupported > 0)
    result_.warnings.push_back(
        fmt::format("{} entries have operations that Sonde does not know", result_.unsupported));
  return {};
}

Result<void> FlightImporter::addSample(const FlightEntry& entry,
                                       const ImportedPlaces::Track& track) {
  SONDE_TRY_ASSIGN(const model::StackId stack, stacks_.stackOf(entry.frames));
  if (stack.value == 0)
    return {};
  model::StackSample sample;
  sample.threadId = track.thread;
  sample.tsNs = entry.createdNs;
  sample.stackId = stack;
  sample.kind = model::SampleKind::Event;
  return writer_.add(sample);
}

}  // namespace sonde::ingest
