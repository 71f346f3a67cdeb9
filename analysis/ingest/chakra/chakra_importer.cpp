#include "analysis/ingest/chakra/chakra_importer.h"

#include "analysis/ingest/import/event_kinds.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace sonde::ingest {
namespace {

constexpr std::uint64_t kMessagesPerReport = 1024;
constexpr std::string_view kCategory = "chakra";
constexpr std::int64_t kDevice = 0;  // files do not name it

bool isOnDevice(const ChakraNode& node) {
  return node.isHost ? !*node.isHost : node.stream.has_value();
}

bool isCopy(const ChakraNode& node) {
  return node.type == ChakraType::MemoryLoad || node.type == ChakraType::MemoryStore ||
         node.name.starts_with("Memcpy") || node.name.starts_with("Memset");
}

model::SliceKind kindOf(const ChakraNode& node) {
  using model::SliceKind;
  const SliceKind kind = sliceKindOfEvent("", node.name);
  const bool isByName = kind == SliceKind::Operator || kind == SliceKind::Api;
  if (node.type >= ChakraType::Send && (isByName || kind == SliceKind::Operation))
    return SliceKind::Collective;
  return kind;
}

std::string_view wordOf(ChakraType type) noexcept {
  constexpr std::string_view kWords[] = {"INVALID",
                                         "METADATA",
                                         "MEM_LOAD",
                                         "MEM_STORE",
                                         "COMP",
                                         "COMM_SEND",
                                         "COMM_RECV",
                                         "COMM_COLL"};
  return kWords[static_cast<std::size_t>(type)];
}

// Device work depends on the host node that launched it; of several the last one.
constexpr std::string_view kScopesSql =
    "UPDATE {0} SET launch_slice_id = iif(s.kind = 'api', s.id, NULL), "
    "scope_id = iif(s.kind IN ('api', 'collective'), s.scope_id, s.id) "
    "FROM (SELECT l.to_id, l.from_id, max(f.start_ns) FROM link l JOIN slice f ON f.id = l.from_id "
    "  WHERE l.rowid > {1} AND l.from_owner = 'slice' AND l.to_owner = '{0}' GROUP BY l.to_id) AS "
    "last JOIN slice s ON s.id = last.from_id WHERE {0}.id = last.to_id";

}  // namespace

model::OptionalInt chakraRankOf(const std::filesystem::path& file) {
  std::filesystem::path name = file.filename();
  if (name.extension() == ".gz")
    name = name.stem();
  if (name.extension() != ".et")
    return {};
  const std::string number = name.stem().extension().string();
  if (number.size() < 2)
    return {};
  std::int32_t rank = 0;
  const char* const end = number.data() + number.size();
  const auto [parsed, error] = std::from_chars(number.data() + 1, end, rank);
  if (error != std::errc{} || parsed != end || rank < 0)
    return {};
  return rank;
}

ChakraImporter::ChakraImporter(store::TraceWriter& writer,
                               const std::filesystem::path& scratch,
                               std::string hostName,
                               model::OptionalInt rank,
                               BytesRead bytesRead)
    : writer_(writer),
      rank_(rank),
      bytesRead_(std::move(bytesRead)),
      places_(writer, std::move(hostName)),
      slices_(scratch),
      device_(scratch),
      dependencies_(scratch) {}

Result<ImportedFile> ChakraImporter::import(ByteSource source) {
  SONDE_TRY_ASSIGN(argsKey_, writer_.intern("args"));
  MessageReader reader(std::move(source));
  SONDE_TRY(readAll(reader));
  SONDE_TRY(checkContent(reader.source().path().string()));
  SONDE_TRY(finish());
  result_.process = places_.idOf(ImportedPlaces::kMain);
  return std::move(result_);
}

Result<void> ChakraImporter::readAll(MessageReader& reader) {
  std::string message;
  for (;;) {
    const auto more = reader.next(message);
    if (!more) {
      if (more.error().code != ErrorCode::Corrupt)
        return more.error();
      result_.faults.cutShort = more.error().message;
      return {};
    }
    if (!*more)
      return {};
    SONDE_TRY(take(message, reader));
    if (++messages_ % kMessagesPerReport == 0 && bytesRead_)
      bytesRead_(reader.source().fileBytesRead());
  }
}

Result<void> ChakraImporter::take(const std::string& message, MessageReader& reader) {
  const bool isFirst = !std::exchange(hasMetadata_, true);
  ChakraNode read;
  const char* const wrong = isFirst ? readChakraMetadata(message) : readChakraNode(message, read);
  if (wrong != nullptr) {
    result_.faults.add(
        [&] { return fmt::format("the message at byte {}, which {}", reader.offset(), wrong); });
    return {};
  }
  return isFirst ? Result<void>() : node(read);
}

Result<void> ChakraImporter::node(const ChakraNode& node) {
  ++result_.events[std::string(wordOf(node.type))];
  Dependencies::Row row;
  if (!node.hasTime) {
    ++withoutTime_;
  } else if (!node.fits) {
    ++result_.badTimes;
  } else {
    ++kept_;
    begunLater_ += node.startNs != 0 ? 1 : 0;
    SONDE_TRY_ASSIGN(row,
                     !isOnDevice(node) ? slice(node)
                     : isCopy(node)    ? copy(node)
                                       : kernel(node));
    SONDE_TRY(writer_.add(model::Arg{row.owner, row.id, argsKey_, std::string_view(node.args)}));
    SONDE_TRY(addCollective(node, row));
  }
  SONDE_TRY(dependencies_.addNode(node.id, row));
  if (row.id == 0)
    return {};
  for (const std::uint64_t on : node.controlDeps)
    SONDE_TRY(dependencies_.add(Dependencies::Kind::Control, on, row));
  for (const std::uint64_t on : node.dataDeps)
    SONDE_TRY(dependencies_.add(Dependencies::Kind::Data, on, row));
  return {};
}

Result<Dependencies::Row> ChakraImporter::slice(const ChakraNode& node) {
  const std::string tid = node.thread ? std::to_string(*node.thread) : "host";
  const ImportedPlaces::Track track = places_.track({}, {tid, node.thread});
  model::Slice row;
  row.id = writer_.reserveSliceId();
  row.threadId = track.thread;
  row.kind = kindOf(node);
  row.category = kCategory;
  SONDE_TRY_ASSIGN(row.nameId, writer_.intern(node.name));
  row.startNs = node.startNs;
  row.durNs = node.durNs;
  places_.cover(track, node.startNs, node.startNs + node.durNs);
  SONDE_TRY(slices_.add(row, track.process));
  if (row.kind == model::SliceKind::Iteration) {
    model::Iteration iteration;
    iteration.processId = track.process;
    iteration.number = profilerStep(node.name).value_or(0);
    iteration.startNs = node.startNs;
    iteration.durNs = node.durNs;
    iteration.sliceId = row.id;
    SONDE_TRY(writer_.add(iteration));
  }
  return Dependencies::Row{model::Owner::Slice, row.id.value};
}

Result<model::DeviceWork> ChakraImporter::workOf(const ChakraNode& node) {
  model::DeviceWork work;
  work.streamId = places_.stream(ImportedPlaces::kMain, kDevice, node.stream.value_or(0));
  SONDE_TRY_ASSIGN(work.nameId, writer_.intern(node.name));
  work.startNs = node.startNs;
  work.durNs = node.durNs;
  work.bytes = node.bytes;
  return work;
}

Result<Dependencies::Row> ChakraImporter::kernel(const ChakraNode& node) {
  model::Kernel row;
  row.id = writer_.reserveId<model::KernelId>();
  SONDE_TRY_ASSIGN(row.work, workOf(node));
  SONDE_TRY(device_.add(row, places_.idOf(ImportedPlaces::kMain)));
  return Dependencies::Row{model::Owner::Kernel, row.id.value};
}

Result<Dependencies::Row> ChakraImporter::copy(const ChakraNode& node) {
  model::Copy row;
  row.id = writer_.reserveId<model::CopyId>();
  SONDE_TRY_ASSIGN(row.work, workOf(node));
  row.kind = copyKindOf(node.name.starts_with("Memset") ? "Memset" : "", node.name);
  SONDE_TRY(device_.add(row, places_.idOf(ImportedPlaces::kMain)));
  return Dependencies::Row{model::Owner::Copy, row.id.value};
}

Result<void> ChakraImporter::addCollective(const ChakraNode& node, const Dependencies::Row& row) {
  if (node.type < ChakraType::Send)
    return {};
  if (!ChakraCollectives::opOf(node)) {
    result_.values.add([&] { return fmt::format("node {}, whose comm_type is unknown", node.id); });
    return {};
  }
  model::Collective collective;
  if (row.owner == model::Owner::Slice)
    collective.sliceId = model::SliceId{row.id};
  if (row.owner == model::Owner::Kernel)
    collective.kernelId = model::KernelId{row.id};
  collectives_.add(node, collective);
  return {};
}

// A file that only has durations is a workload for a simulator.
Result<void> ChakraImporter::checkContent(const std::string& file) const {
  if (kept_ > 1 && begunLater_ == 0)
    return Error{ErrorCode::Unsupported,
                 fmt::format("'{}': its nodes have no start times: give the trace of a run", file)};
  if (kept_ > 0)
    return {};
  if (!result_.faults.cutShort.empty())
    return Error{ErrorCode::Corrupt, result_.faults.cutShort};
  if (result_.faults.events > 0)
    return Error{ErrorCode::Corrupt,
                 fmt::format("'{}': none of its {} nodes can be read; the first is {}",
                             file,
                             result_.faults.events,
                             result_.faults.first)};
  return Error{ErrorCode::Corrupt,
               fmt::format("'{}': no node has times: give the trace of a run", file)};
}

Result<void> ChakraImporter::finish() {
  if (rank_) {
    places_.setRank(ImportedPlaces::kMain, *rank_);
    result_.ranks.insert(*rank_);
  }
  SONDE_TRY(places_.finish(0));
  SONDE_TRY(slices_.finish(writer_, 0));
  SONDE_TRY(device_.finish(writer_, slices_, 0));
  SONDE_TRY(collectives_.finish(writer_, places_.idOf(ImportedPlaces::kMain), rank_));
  SONDE_TRY_ASSIGN(const std::int64_t linksBefore,
                   writer_.database().queryInteger("SELECT coalesce(max(rowid), 0) FROM link"));
  SONDE_TRY(dependencies_.finish(writer_));
  for (const std::string_view table : {"kernel", "copy"})
    SONDE_TRY(writer_.database().exec(fmt::format(fmt::runtime(kScopesSql), table, linksBefore)));
  result_.notKept += withoutTime_;
  const auto warn = [&](std::uint64_t count, std::string_view what) {
    if (count > 0)
      result_.warnings.push_back(fmt::format("{} {}", count, what));
  };
  warn(withoutTime_, "nodes without start and duration were left out");
  warn(dependencies_.dangling(), "dependencies refer to nodes that are not in the file");
  warn(dependencies_.circular(), "dependencies refer to their own node");
  warn(dependencies_.repeated(),
       "nodes have the id of another node: dependencies refer to the first");
  return {};
}

}  // namespace sonde::ingest
