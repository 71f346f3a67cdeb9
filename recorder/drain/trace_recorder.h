// The trace of one recording while it is written: opened or resumed, with its hosts and their
// clocks. Owned by the drainer, on its thread.
#pragma once

#include "analysis/ingest/rows/clock_fit.h"
#include "analysis/ingest/rows/row_sink.h"
#include "recorder/spool/clock_triple.h"
#include "recorder/spool_file/spool_reader.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::recorder {

class TraceRecorder {
 public:
  // Creates `part`, or goes on with it when it is that of `session`. One that becomes the session's
  // now says that the records which the spool has given back are lost: they were in an earlier one.
  static Result<std::unique_ptr<TraceRecorder>> open(const std::filesystem::path& part,
                                                     const std::string& session,
                                                     const std::string& hostName,
                                                     std::uint64_t givenBack);
  TraceRecorder(const TraceRecorder&) = delete;
  TraceRecorder& operator=(const TraceRecorder&) = delete;

  // Whether the trace became the session's by this open().
  bool isNew() const noexcept { return isNew_; }
  store::TraceWriter& writer() noexcept { return writer_; }
  ingest::RowSink& sink() noexcept { return *sink_; }

  struct Host {
    model::HostId id;
    std::int64_t epochNs = 0;
    ingest::ClockFit fit;
    std::int64_t nextSyncNs = 0;  // when the recorder's next row in clock_sync is due
    bool hasTicks = false;        // some image's times are not in ns already
    bool rateKnown = false;
  };
  // The host on which the image runs; made known when it is new. Requires: a transaction.
  Result<Host*> hostOf(const SpoolIdentity& identity);

  // This machine's; nullptr while no process of it is in the trace.
  Result<const Host*> ownHost();

  // A reading of this machine's clocks while nothing is stored; used by the next settleClocks().
  void holdReading(const ClockTriple& reading) { held_.push_back(reading); }
  // Closes the clock fits of all hosts up to now. Requires: a transaction.
  void settleClocks(const ClockTriple& now);

  // A note of the recorder itself about an instant of this machine. Requires: a transaction.
  Result<void> addNote(model::Severity severity, std::int64_t monotonicNs, std::string_view text);

  // All that the job had recorded until then is in the trace. Nothing while no process of this
  // machine is in it. Requires: a transaction.
  Result<void> noteWatermark(std::int64_t monotonicNs);

  // This machine's recorder was busy storing. Nothing while no process of it is in the trace.
  // Requires: a transaction.
  Result<void> addStoring(std::int64_t beginMonotonicNs, std::int64_t endMonotonicNs);

  static ingest::TimeBase timeBase(const Host& host, wire::ClockKind clock);

  // Every row has been added: the database, for the finaliser.
  static Result<store::Database> release(std::unique_ptr<TraceRecorder> recorder);

 private:
  TraceRecorder(store::TraceWriter writer, std::string hostName);
  Result<void> adopt(const std::string& session, std::uint64_t givenBack);
  void addPartMissing(std::uint64_t records);
  Result<model::OptionalInt> timeOf(std::int64_t monotonicNs);
  Result<bool> restoreHost(const std::string& bootId, Host& host);
  void addHost(const SpoolIdentity& identity, Host& host);
  void addSync(Host& host, const ClockTriple& reading);
  void keepKnots(const std::string& bootId, const std::vector<ingest::Knot>& knots);

  store::TraceWriter writer_;
  std::optional<ingest::RowSink> sink_;  // goes before writer_
  bool isNew_ = false;
  std::string hostName_;
  std::string bootId_;                 // of this machine
  std::map<std::string, Host> hosts_;  // by boot id
  std::vector<ClockTriple> held_;
};

}  // namespace sonde::recorder
