// Which call sent the bytes that another one received. Within engine/waits; the database's thread.
#pragma once

#include "analysis/store/database.h"
#include "analysis/store/read_rows.h"
#include "base/result.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sonde::engine::waits {

// Bytes that a call sent or received through a socket or pipe.
struct Bytes {
  std::int64_t channelId = 0;  // of the receiver
  std::int64_t until = 0;      // offset behind the last byte
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  std::int64_t threadId = 0;

  SONDE_COLUMNS(channelId, until, startNs, endNs, threadId)
};

inline constexpr const char* kReceivedBytes =
    "SELECT x.channel_id, x.offset + x.bytes AS until, x.start_ns, x.start_ns + "
    "x.dur_ns AS end_ns, x.thread_id FROM transfer x JOIN channel c ON c.id = x.channel_id WHERE "
    "c.kind IN ('tcp', 'unix', 'pipe') AND x.direction = 'receive' AND x.bytes > 0 AND x.dur_ns IS "
    "NOT NULL";

class ByteSenders {
 public:
  static Result<ByteSenders> read(const store::Database& trace);

  // The call that sent the last of these bytes; null: unknown.
  const Bytes* senderOf(const Bytes& received) const;

 private:
  std::unordered_map<std::int64_t, std::vector<Bytes>> sent_;  // by receiver, in order
};

}  // namespace sonde::engine::waits
