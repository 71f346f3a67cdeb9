// The unfinished trace of one recording: creates or resumes it, with its hosts and their clocks.
// Owned by the drainer, on its thread.
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
  // Creates `part`, or resumes it if it is the trace of `session`. A new trace for a session notes
  // as lost the records that the spool has already given back: they were in an earlier trace.
  static Result<std::unique_ptr<TraceRecorder>> open(const std::filesystem::path& part,
                                                     const std::string& session,
                                                     const std::string& hostName,
                                                     std::uint64_t givenBack);
  TraceRecorder(const TraceRecorder&) = delete;
  TraceRecorder& operator=(const TraceRecorder&) = delete;

  // Whether this open() created the session's trace.
  bool isNew() const noexcept { return isNew_; }
  store::TraceWriter& writer() noexcept { return writer_; }
  ingest::RowSink& sink() noexcept { return *sink_; }

  struct Host {
    model::HostId id;
    std::int64_t epochNs = 0;
    ingest::ClockFit fit;
    std::int64_t nextSyncNs = 0;  // when the recorder's next row in clock_sync is due
    bool hasTicks = false;        // the times of some image are not in ns
    bool rateKnown = false;
  };
  // Returns the host on which the image runs, and adds it if it is new. Requires: a transaction.
  Result<Host*> hostOf(const SpoolIdentity& identity);

  // This machine's; nullptr while the trace has no process of it.
  Result<const Host*> ownHost();

  // Keeps a reading of this machine's clocks while nothing is stored, for the next settleClocks().
  void holdReading(const ClockTriple& reading) { held_.push_back(reading); }
  // Closes the clock fits of all hosts up to `now`. Requires: a transaction.
  void settleClocks(const ClockTriple& now);

  // Adds a note about an instant on this machine. Requires: a transaction.
  Result<void> addNote(model::Severity severity,
                       std::int64_t monotonicNs,
                       std::string_view text,
                       std::string_view source = "recorder");

  // All records of the job up to then are in the trace. Has no effect while the trace has no
  // process of this machine. Requires: a transaction.
  Result<void> noteWatermark(std::int64_t monotonicNs);

  // This machine's recorder was storing at this time. Has no effect while the trace has no process
  // of this machine. Requires: a transaction.
  Result<void> addStoring(std::int64_t beginMonotonicNs, std::int64_t endMonotonicNs);

  static ingest::TimeBase timeBase(const Host& host, wire::ClockKind clock);

  // All rows have been added: returns the database for the finaliser.
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
  std::optional<ingest::RowSink> sink_;  // destroyed before writer_
  bool isNew_ = false;
  std::string hostName_;
  std::string bootId_;                 // of this machine
  std::map<std::string, Host> hosts_;  // by boot id
  std::vector<ClockTriple> held_;
};

}  // namespace sonde::recorder
