// Rows about recording itself: its cost, its losses and its notes.
//
// Plain values; any thread. The rules of place.h hold for texts, ids, optionals and times.
#pragma once

#include "analysis/model/event.h"
#include "analysis/model/row.h"

#include <cstdint>
#include <string_view>

namespace sonde::model {

struct Meta {
  std::string_view key{};
  std::string_view value{};

  static constexpr bool kReplaces = true;  // a row with the same key
  SONDE_ROW("meta", key, value)
};

struct Overhead {
  std::string_view probe{};
  std::string_view api{};
  double meanNs = 0;
  OptionalReal errorNs{};
  OptionalInt n{};
  std::string_view method{};
  ProcessId processId{};
  OptionalReal beforeNs{};  // part of the mean before the begin of the event is stamped
  OptionalReal insideNs{};  // part of the mean inside the event
  OptionalReal unrecordedNs{};

  SONDE_ROW("overhead",
            probe,
            api,
            meanNs,
            errorNs,
            n,
            method,
            processId,
            beforeNs,
            insideNs,
            unrecordedNs)
};

// Covariance of the relative errors of two probes' costs.
struct OverheadCovariance {
  std::string_view probe{};
  std::string_view otherProbe{};
  double covariance = 0;
  ProcessId processId{};

  SONDE_ROW("overhead_covariance", probe, otherProbe, covariance, processId)
};

struct ProbeCall {
  ThreadId threadId{};
  IterationId iterationId{};
  std::string_view probe{};
  std::string_view api{};
  std::int64_t recorded = 0;
  std::int64_t unrecorded = 0;

  SONDE_ROW("probe_call", threadId, iterationId, probe, api, recorded, unrecorded)
};

struct Loss {
  std::string_view probe{};
  std::string_view kind{};
  std::int64_t count = 0;
  std::string_view reason{};
  ProcessId processId{};

  SONDE_ROW("loss", probe, kind, count, reason, processId)
};

struct Note {
  NoteId id{};
  OptionalInt tsNs{};
  ProcessId processId{};
  Severity severity = Severity::Info;
  std::string_view source{};
  std::string_view text{};

  SONDE_ROW("note", id, tsNs, processId, severity, source, text)
};

// How far a stream of a spool has been stored: all bytes below `consumed`, in the slot with this
// claim number.
struct Ingested {
  std::string_view spool{};
  std::int64_t seq = 0;
  std::int64_t consumed = 0;

  static constexpr bool kReplaces = true;  // a row with the same key
  SONDE_ROW("ingested", spool, seq, consumed)
};

// A scope that is open at the recorder's read position; its slice is written when it ends.
// `slice.durNs` is not kept.
struct OpenScope {
  std::string_view spool{};
  std::int64_t token = 0;
  Slice slice{};

  static constexpr bool kReplaces = true;  // a row with the same key
  SONDE_ROW("open_scope",
            spool,
            token,
            slice.id,
            slice.threadId,
            slice.kind,
            slice.category,
            slice.nameId,
            slice.startNs,
            slice.parentId,
            slice.depth,
            slice.lane,
            slice.scopeId,
            slice.scopeHow)
};

}  // namespace sonde::model
