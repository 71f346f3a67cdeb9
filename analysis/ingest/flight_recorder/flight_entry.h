// An entry of PyTorch's NCCL flight recorder: one collective, send or receive of a rank. Plain
// values; any thread.
#pragma once

#include "analysis/ingest/pickle/value_tree.h"
#include "analysis/model/event.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sonde::ingest {

struct FlightEntry {
  std::string group;                       // its name, or the local id in dumps that have no names
  std::string description;                 // of the group; may be empty
  std::optional<std::int64_t> localGroup;  // `pg_id`
  std::string operation;  // as in `profiling_name`, without the library: "_all_gather_base"
  std::optional<model::CollectiveOp> op;  // unset: not known, or it only closes a coalesced call
  bool isCoalesced = false;               // it closes a call that was made of several operations
  std::optional<std::int64_t> seq;        // of collectives: `collective_seq_id`
  std::int64_t p2pCalls = 0;              // `p2p_seq_id`: sends and receives in the group so far
  std::optional<std::int64_t> peer;       // rank in the group
  std::optional<std::int64_t> root;       // rank in the group
  model::DataType dtype = model::DataType::Unknown;
  std::optional<std::int64_t> sendBytes;
  std::optional<std::int64_t> recvBytes;
  std::int64_t createdNs = 0;
  std::optional<std::int64_t> completedNs;
  bool isCompleted = false;
  std::optional<std::int64_t> thread;
  std::string threadName;
  Value frames;      // innermost first
  std::string args;  // JSON text of the other members
};

// Unset: `value` lacks a member that each entry has, or it has another type; `missing` names it.
std::optional<FlightEntry> flightEntryOf(const Value& value, std::string_view& missing);

}  // namespace sonde::ingest
