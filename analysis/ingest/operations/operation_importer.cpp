#include "analysis/ingest/operations/operation_importer.h"

#include "analysis/ingest/trace_event/file_facts.h"
#include "analysis/ingest/trace_event/text_repair.h"
#include "analysis/model/operation_types.h"
#include "base/utf8.h"

#include <fmt/format.h>

#include <utility>

namespace sonde::ingest {
namespace {

constexpr std::size_t kNamedTypes = 5;

}  // namespace

OperationImporter::OperationImporter(store::TraceWriter& writer,
                                     const std::filesystem::path& scratch,
                                     std::string hostName,
                                     BytesRead bytesRead)
    : writer_(writer),
      hostName_(std::move(hostName)),
      bytesRead_(std::move(bytesRead)),
      slices_(scratch),
      places_(writer) {}

Result<ImportedFile> OperationImporter::import(ByteSource source) {
  SONDE_TRY_ASSIGN(argsKey_, writer_.intern("args"));
  slices_.keepApart(model::SliceKind::Collective);
  const std::string file = source.path().string();
  EventReader reader(std::move(source));
  reader_ = &reader;
  SONDE_TRY(reader.readAll(*this));
  reader_ = nullptr;
  countFaults(reader.faults());
  if (kept_ == 0)
    return Error{ErrorCode::Corrupt, fmt::format("'{}': none of its operations can be read", file)};
  SONDE_TRY(finish(file));
  return std::move(account_);
}

// Adds the reader's faults to those of the events.
void OperationImporter::countFaults(const FileFaults& faults) {
  const FileFaults own = std::exchange(account_.faults, faults);
  if (account_.faults.events == 0)
    account_.faults.first = own.first;
  account_.faults.events += own.events;
}

void OperationImporter::progress(std::uint64_t fileBytesRead) {
  if (bytesRead_)
    bytesRead_(fileBytesRead);
}

Result<void> OperationImporter::member(std::string_view key, std::string_view json) {
  if (key == "baseTimeNanoseconds")
    baseNs_ = baseTimeOf(json).value_or(0);
  return {};
}

Result<void> OperationImporter::event(const TraceEvent& event) {
  const auto known = account_.events.find(event.category);
  if (known != account_.events.end())
    ++known->second;
  else
    account_.events.emplace(event.category, 1);
  if (event.phase == 'X')
    return operation(event);
  if (event.phase == 'M' && event.name == "thread_name")
    nameStream(event);
  else if (event.phase != 'M')
    ++account_.unsupported;
  return {};
}

void OperationImporter::nameStream(const TraceEvent& event) {
  if (event.pid.number && event.tid.number)
    places_.nameStream(*event.pid.number, *event.tid.number, event.args.name);
}

Result<void> OperationImporter::operation(const TraceEvent& event) {
  if (!event.pid.number || !event.tid.number) {
    account_.faults.add([&] {
      return fmt::format("the event at byte {}: its pid or tid is not a number",
                         reader_->byteOf(event));
    });
    return {};
  }
  std::int64_t durNs = event.durNs.value_or(0);
  if (event.badTime || !event.startNs || !isTime(*event.startNs + durNs)) {
    ++account_.badTimes;
    return {};
  }
  if (durNs < 0) {
    ++account_.negative;
    durNs = 0;
  }
  noteValues(event);
  constexpr std::int64_t kMicro = 1000;
  hasFractions_ = hasFractions_ || *event.startNs % kMicro != 0;
  const std::size_t stream = places_.streamOf(*event.pid.number, *event.tid.number);
  places_.cover(stream, *event.startNs, *event.startNs + durNs);
  if (event.args.step)
    steps_.add(stream, *event.args.step, *event.startNs, *event.startNs + durNs);
  return addSlice(event, stream, durNs);
}

// A missing step counts like one with a wrong type.
void OperationImporter::noteValues(const TraceEvent& event) {
  const auto at = static_cast<std::size_t>(ValueUse::Operation);
  const UnreadableValues& values = event.args.unreadable[at];
  for (std::uint32_t value = 0; value < values.count; ++value)
    account_.values.add([&] {
      return fmt::format("the event at byte {}, whose \"{}\" has the wrong type",
                         reader_->byteOf(event),
                         values.first);
    });
  if (values.count == 0 && !event.args.step)
    account_.values.add([&] {
      return fmt::format("the event at byte {}, which has no \"step\"", reader_->byteOf(event));
    });
}

Result<void> OperationImporter::addSlice(const TraceEvent& event,
                                         std::size_t stream,
                                         std::int64_t durNs) {
  ++kept_;
  const auto type = model::operationTypeOf(event.name);
  if (!type) {
    ++unknown_;
    if (unknownTypes_.size() < kNamedTypes)
      unknownTypes_.insert(toText(event.name));
  }
  model::Slice row;
  row.id = writer_.reserveSliceId();
  row.threadId = places_.threadOf(stream);
  row.kind = type ? model::sliceKindOf(*type) : model::SliceKind::Operation;
  row.category = event.category;
  SONDE_TRY_ASSIGN(row.nameId, writer_.intern(event.name));
  row.startNs = *event.startNs;
  row.durNs = durNs;
  SONDE_TRY(slices_.add(row, {}));
  std::string_view args = event.args.json;
  const std::string repaired =
      args.find('\\') == std::string_view::npos ? std::string() : withKnownEscapes(args);
  args = repaired.empty() ? args : std::string_view(repaired);
  if (args.empty())
    return {};
  return writer_.add(model::Arg{model::Owner::Slice, row.id.value, argsKey_, args});
}

Result<void> OperationImporter::finish(const std::string& file) {
  const auto formed = places_.formWorkers(layout_);
  if (!formed)
    return Error{formed.error().code, fmt::format("'{}': {}", file, formed.error().message)};
  SONDE_TRY(places_.store(hostName_, baseNs_));
  SONDE_TRY(noteBase());
  SONDE_TRY(slices_.finish(writer_, baseNs_));
  SONDE_TRY(steps_.store(writer_, places_, baseNs_));
  SONDE_TRY(writer_.add(model::Meta{"operation_level", "1"}));
  warnOfOthers();
  account_.kept = kept_;
  account_.process = places_.workers().front().id;
  account_.worldSize = places_.worldSize();
  for (const OperationPlaces::Worker& worker : places_.workers())
    account_.ranks.insert(worker.rank);
  return {};
}

// As the importer of other files of the Trace Event Format.
Result<void> OperationImporter::noteBase() {
  if (!hasFractions_)
    return {};
  SONDE_TRY_ASSIGN(const model::StringId key, writer_.intern("sonde.base_ns"));
  for (const OperationPlaces::Worker& worker : places_.workers())
    SONDE_TRY(writer_.add(model::Arg{model::Owner::Process, worker.id.value, key, baseNs_}));
  return {};
}

void OperationImporter::warnOfOthers() {
  if (account_.unsupported > 0)
    account_.warnings.push_back(fmt::format(
        "{} events are neither spans nor names, and are not imported", account_.unsupported));
  if (unknown_ > 0)
    account_.warnings.push_back(fmt::format(
        "{} operations have types that Sonde does not know ({}): they are kept, but nothing "
        "depends on them",
        unknown_,
        fmt::join(unknownTypes_, ", ")));
}

}  // namespace sonde::ingest
