#include "analysis/ingest/nsight/nsight_context.h"

#include "analysis/model/times.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace sonde::ingest {
namespace {

constexpr std::uint64_t kRowsPerReport = 4096;

// A global id consists of, from the highest bits: machine, virtual machine, process (24 bits) and
// thread (24 bits).
constexpr std::uint64_t kThreads = 0x1000000;
constexpr std::uint64_t kProcesses = 0x1000000;

std::uint64_t processKey(std::int64_t globalId) noexcept {
  return static_cast<std::uint64_t>(globalId) / kThreads;
}

// Gives equal pids of two machines different labels.
class Labels {
 public:
  explicit Labels(std::int64_t globalId)
      : key_(processKey(globalId)),
        tid_(static_cast<std::int64_t>(static_cast<std::uint64_t>(globalId) % kThreads)),
        keyText_(std::to_string(key_)),
        tidText_(std::to_string(tid_)) {}

  Label process() const { return {keyText_, static_cast<std::int64_t>(key_ % kProcesses)}; }
  Label thread() const { return {tidText_, tid_}; }

 private:
  std::uint64_t key_;
  std::int64_t tid_;
  std::string keyText_;
  std::string tidText_;
};

}  // namespace

NsightContext::NsightContext(const NsightFile& source,
                             store::TraceWriter& into,
                             const std::filesystem::path& scratch,
                             std::string hostName,
                             BytesRead bytesRead)
    : file(source),
      writer(into),
      names(source, into, account),
      places(into, std::move(hostName)),
      slices(scratch),
      device(scratch),
      bytesRead_(std::move(bytesRead)) {
  std::error_code ignored;
  const auto size = std::filesystem::file_size(source.path(), ignored);
  fileBytes_ = ignored ? 0 : size;
  for (const auto& [name, rows] : source.tables())
    rowsInAll_ += static_cast<double>(std::max<std::int64_t>(rows, 0));
}

void NsightContext::rowDone() {
  ++rows_;
  if (rows_ % kRowsPerReport == 0 && bytesRead_) {
    const double share = std::min(static_cast<double>(rows_) / std::max(rowsInAll_, 1.0), 1.0);
    bytesRead_(static_cast<std::uint64_t>(share * static_cast<double>(fileBytes_)));
  }
}

model::OptionalInt NsightContext::timeOf(std::int64_t sessionNs) {
  std::int64_t ns = 0;
  if (!__builtin_add_overflow(sessionNs, epochNs_, &ns) && model::isTime(ns))
    return ns;
  ++account.badTimes;
  return {};
}

std::optional<NsightContext::Span> NsightContext::spanOf(model::OptionalInt start,
                                                         model::OptionalInt end) {
  if (!start) {
    ++account.badTimes;
    return {};
  }
  const model::OptionalInt startNs = timeOf(*start);
  if (!startNs)
    return {};
  if (!end)
    return Span{*startNs, {}};
  if (*end < *start) {
    ++account.negative;
    return Span{*startNs, 0};
  }
  std::int64_t durNs = 0;
  if (const auto endNs = timeOf(*end); !endNs)
    return {};
  if (__builtin_sub_overflow(*end, *start, &durNs)) {
    ++account.badTimes;
    return {};
  }
  return Span{*startNs, durNs};
}

std::size_t NsightContext::process(std::int64_t globalPid) {
  const auto [known, fresh] = processes_.try_emplace(processKey(globalPid), 0);
  if (fresh)
    known->second = places.processOf(Labels(globalPid).process());
  return known->second;
}

const ImportedPlaces::Track& NsightContext::thread(std::int64_t globalTid) {
  const auto known = threads_.find(globalTid);
  if (known != threads_.end())
    return known->second;
  const Labels labels(globalTid);
  return threads_.emplace(globalTid, places.track(labels.process(), labels.thread())).first->second;
}

void NsightContext::nameProcess(std::int64_t globalPid, std::string_view name) {
  places.nameProcess(Labels(globalPid).process(), name);
}

void NsightContext::nameThread(std::int64_t globalTid, std::string_view name) {
  const Labels labels(globalTid);
  places.nameThread(labels.process(), labels.thread(), name);
}

Result<model::SliceId> NsightContext::addSlice(model::Slice slice,
                                               std::int64_t globalTid,
                                               const Span& span) {
  const ImportedPlaces::Track& track = thread(globalTid);
  slice.id = writer.reserveSliceId();
  slice.threadId = track.thread;
  slice.startNs = span.startNs;
  slice.durNs = span.durNs;
  places.cover(track, span.startNs, span.startNs + span.durNs.value_or(0));
  SONDE_TRY(slices.add(slice, track.process));
  return slice.id;
}

Result<void> NsightContext::addIteration(model::SliceId slice,
                                         std::int64_t globalTid,
                                         std::int64_t number,
                                         const Span& span) {
  model::Iteration row;
  row.processId = thread(globalTid).process;
  row.number = number;
  row.startNs = span.startNs;
  row.durNs = span.durNs;
  row.sliceId = slice;
  SONDE_TRY(writer.add(row));
  return {};
}

Result<void> NsightContext::addArg(model::SliceId slice,
                                   std::string_view key,
                                   model::ArgValue value) {
  SONDE_TRY_ASSIGN(const model::StringId keyId, writer.intern(key));
  return writer.add(model::Arg{model::Owner::Slice, slice.value, keyId, value});
}

Result<void> NsightContext::finish() {
  SONDE_TRY(places.finish(0));
  SONDE_TRY(slices.finish(writer, 0));
  SONDE_TRY(device.finish(writer, slices, 0));
  SONDE_TRY_ASSIGN(auto overlaps, device.overlaps(writer, 0));
  std::move(overlaps.begin(), overlaps.end(), std::back_inserter(account.warnings));
  for (Launch rest{};;) {  // counts all launches that repeat another one
    SONDE_TRY_ASSIGN(const bool more, slices.nextLaunch(rest));
    if (!more)
      break;
  }
  if (slices.repeatedLaunches() > 0)
    account.warnings.push_back(
        fmt::format("{} calls have the correlation of another call of their process: launched work "
                    "is linked to the first",
                    slices.repeatedLaunches()));
  return {};
}

}  // namespace sonde::ingest
