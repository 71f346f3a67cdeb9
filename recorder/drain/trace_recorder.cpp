#include "recorder/drain/trace_recorder.h"

#include "analysis/store/trace_file.h"
#include "recorder/environment/machine.h"
#include "recorder/spool/host_clock.h"
#include "recorder/spool/manifest.h"

#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace sonde::recorder {
namespace {

constexpr std::int64_t kSyncEveryNs = 1'000'000'000;

Result<store::Database> openPart(const std::filesystem::path& part) {
  std::error_code ignored;
  return std::filesystem::exists(part, ignored) ? store::reopenTrace(part)
                                                : store::createTrace(part);
}

}  // namespace

TraceRecorder::TraceRecorder(store::TraceWriter writer, std::string hostName)
    : writer_(std::move(writer)), hostName_(std::move(hostName)), bootId_(currentBootId()) {}

Result<std::unique_ptr<TraceRecorder>> TraceRecorder::open(const std::filesystem::path& part,
                                                           const std::string& session,
                                                           const std::string& hostName,
                                                           std::uint64_t givenBack) {
  SONDE_TRY_ASSIGN(store::Database database, openPart(part));
  SONDE_TRY_ASSIGN(store::TraceWriter writer, store::TraceWriter::open(std::move(database)));
  std::unique_ptr<TraceRecorder> recorder(new TraceRecorder(std::move(writer), hostName));
  SONDE_TRY(recorder->adopt(session, givenBack));
  return recorder;
}

// In one transaction: a trace of the session thus either notes the loss or needs no note.
Result<void> TraceRecorder::adopt(const std::string& session, std::uint64_t givenBack) {
  SONDE_TRY_ASSIGN(ingest::RowSink sink, ingest::RowSink::open(writer_));
  sink_.emplace(std::move(sink));
  const auto known = writer_.database().queryText("SELECT value FROM meta WHERE key = 'session'");
  if (known && *known != session)
    return Error{ErrorCode::Busy,
                 fmt::format("{} is being written by another recording ({})",
                             writer_.database().path().string(),
                             *known)};
  if (known)
    return {};
  if (known.error().code != ErrorCode::NotFound)
    return known.error();
  isNew_ = true;
  SONDE_TRY(writer_.begin());
  sink_->add(model::Meta{"session", session});
  if (givenBack > 0)
    addPartMissing(givenBack);
  if (sink_->failed())
    return sink_->failure();
  return writer_.commit();
}

// Without a time, because the trace has no host yet.
void TraceRecorder::addPartMissing(std::uint64_t records) {
  sink_->add(
      model::Loss{"process", "unknown", static_cast<std::int64_t>(records), "part missing", {}});
  model::Note note;
  note.severity = model::Severity::Warning;
  note.source = "recorder";
  const std::string text = fmt::format(
      "the unfinished trace was removed or replaced: at least {} records that only it had are lost",
      records);
  note.text = text;
  sink_->add(note);
}

Result<bool> TraceRecorder::restoreHost(const std::string& bootId, Host& host) {
  SONDE_TRY_ASSIGN(store::Statement rows,
                   writer_.database().prepare("SELECT kind, key, value FROM ingest_state "
                                              "WHERE spool = ?1 ORDER BY kind, key"));
  rows.bindAll(std::string_view(bootId));
  std::vector<ingest::Knot> knots;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      break;
    if (rows.text(0) == "host")
      host.id = rows.id<model::HostId>(2);
    else if (rows.text(0) == "epoch")
      host.epochNs = rows.integer(2);
    else if (rows.text(0) == "knot")
      knots.push_back({static_cast<std::uint64_t>(rows.integer(1)), rows.integer(2)});
  }
  host.fit.restore(knots);
  return static_cast<bool>(host.id);
}

void TraceRecorder::addHost(const SpoolIdentity& identity, Host& host) {
  model::Host row;
  row.name = hostName_;
  row.bootId = identity.bootId;
  utsname system{};
  std::string os;
  const std::string cpu = cpuModel();
  if (identity.bootId == bootId_ && ::uname(&system) == 0) {
    os = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
    row.os = os;
    if (!cpu.empty())
      row.cpuModel = cpu;
    row.cpuCount = ::get_nprocs_conf();
    struct sysinfo memory {};
    if (::sysinfo(&memory) == 0)
      row.memoryBytes = static_cast<std::int64_t>(memory.totalram) * memory.mem_unit;
  }
  host.id = sink_->add(row);
  host.epochNs = identity.startRealtimeNs - identity.startMonotonicNs;
  sink_->setState(identity.bootId, "host", 0, host.id.value);
  sink_->setState(identity.bootId, "epoch", 0, host.epochNs);
  if (hosts_.size() == 1)
    sink_->add(model::Meta{"epoch_ns", std::to_string(host.epochNs)});
}

Result<TraceRecorder::Host*> TraceRecorder::hostOf(const SpoolIdentity& identity) {
  const auto [at, added] = hosts_.try_emplace(identity.bootId);
  Host& host = at->second;
  if (!added)
    return &host;
  SONDE_TRY_ASSIGN(const bool known, restoreHost(identity.bootId, host));
  if (!known)
    addHost(identity, host);
  return &host;
}

void TraceRecorder::addSync(Host& host, const ClockTriple& reading) {
  if (reading.monotonicNs < host.nextSyncNs)
    return;
  const auto ticks = static_cast<std::int64_t>(reading.ticks);
  sink_->add(model::ClockSync{host.id, {}, ticks, reading.monotonicNs, reading.realtimeNs});
  host.nextSyncNs = reading.monotonicNs + kSyncEveryNs;
}

void TraceRecorder::keepKnots(const std::string& bootId, const std::vector<ingest::Knot>& knots) {
  for (const ingest::Knot& knot : knots)
    sink_->setState(bootId, "knot", static_cast<std::int64_t>(knot.ticks), knot.monotonicNs);
}

void TraceRecorder::settleClocks(const ClockTriple& now) {
  for (auto& [bootId, host] : hosts_) {
    const bool here = bootId == bootId_;
    for (const ClockTriple& reading : here ? held_ : std::vector<ClockTriple>()) {
      addSync(host, reading);
      if (host.hasTicks)
        keepKnots(bootId, host.fit.settleUpTo({reading.ticks, reading.monotonicNs}));
    }
    if (here)
      addSync(host, now);
    if (!host.hasTicks)
      continue;
    keepKnots(bootId,
              host.fit.settle(here ? std::optional(ingest::Knot{now.ticks, now.monotonicNs})
                                   : std::nullopt));
    if (host.fit.knots() < 2 && !std::exchange(host.rateKnown, true))
      host.fit.setNominalRate(measureNsPerTick());
  }
  held_.clear();
}

Result<const TraceRecorder::Host*> TraceRecorder::ownHost() {
  if (const auto at = hosts_.find(bootId_); at != hosts_.end())
    return &at->second;
  Host host;  // its processes may have been stored before this object was created
  SONDE_TRY_ASSIGN(const bool known, restoreHost(bootId_, host));
  return known ? &hosts_.emplace(bootId_, std::move(host)).first->second : nullptr;
}

// Unset while the trace has no process of this machine.
Result<model::OptionalInt> TraceRecorder::timeOf(std::int64_t monotonicNs) {
  SONDE_TRY_ASSIGN(const Host* const host, ownHost());
  return host == nullptr ? model::OptionalInt() : model::OptionalInt(host->epochNs + monotonicNs);
}

Result<void> TraceRecorder::addNote(model::Severity severity,
                                    std::int64_t monotonicNs,
                                    std::string_view text,
                                    std::string_view source) {
  model::Note note;
  SONDE_TRY_ASSIGN(note.tsNs, timeOf(monotonicNs));
  note.severity = severity;
  note.source = source;
  note.text = text;
  sink_->add(note);
  return {};
}

Result<void> TraceRecorder::noteWatermark(std::int64_t monotonicNs) {
  SONDE_TRY_ASSIGN(const model::OptionalInt ns, timeOf(monotonicNs));
  if (ns)
    sink_->add(model::Meta{"watermark_ns", std::to_string(*ns)});
  return {};
}

Result<void> TraceRecorder::addStoring(std::int64_t beginMonotonicNs, std::int64_t endMonotonicNs) {
  SONDE_TRY_ASSIGN(const Host* const host, ownHost());
  if (host == nullptr)
    return {};
  SONDE_TRY_ASSIGN(store::Statement insert,
                   writer_.database().prepare(
                       "INSERT INTO storing(host_id, start_ns, dur_ns) VALUES(?1, ?2, ?3)"));
  insert.bindAll(
      host->id.value, host->epochNs + beginMonotonicNs, endMonotonicNs - beginMonotonicNs);
  SONDE_TRY(insert.step());
  return {};
}

ingest::TimeBase TraceRecorder::timeBase(const Host& host, wire::ClockKind clock) {
  return {clock == wire::ClockKind::Tsc ? &host.fit : nullptr, host.epochNs};
}

Result<store::Database> TraceRecorder::release(std::unique_ptr<TraceRecorder> recorder) {
  recorder->sink_.reset();
  return store::TraceWriter::release(std::move(recorder->writer_));
}

}  // namespace sonde::recorder
