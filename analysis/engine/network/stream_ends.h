// The ends of channels and their names, for links. Within engine/network.
#pragma once

#include "analysis/engine/metrics/ranks.h"
#include "analysis/engine/network/links.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace sonde::engine::network {

// One end of a connection. Several processes may hold a pipe or UNIX socket, each with a channel of
// its own: together they are one end.
struct ChannelEnd {
  std::int64_t end = 0;
  std::int64_t peer = 0;  // the other end; 0: not recorded
  std::string kind;
  std::string remote;  // address
  LinkEnd here;
  LinkEnd there;
};

// The end of each channel that moved bytes, by the channel's id.
Result<std::unordered_map<std::int64_t, ChannelEnd>> readChannelEnds(
    const store::Database& trace, const std::vector<metrics::RankProcess>& ranks);

// "rank 1"; "process 4711", with the rank that it works for, if any.
Result<std::map<std::int64_t, LinkEnd>> readProcessNames(
    const store::Database& trace, const std::vector<metrics::RankProcess>& ranks);

}  // namespace sonde::engine::network
