#include "analysis/engine/waits/byte_senders.h"

#include <algorithm>

namespace sonde::engine::waits {

namespace {

struct Sent {
  std::int64_t toId = 0;  // the receiving channel
  std::int64_t channelId = 0;
  std::int64_t until = 0;
  std::int64_t bytes = 0;
  std::int64_t startNs = 0;
  std::int64_t threadId = 0;

  SONDE_COLUMNS(toId, channelId, until, bytes, startNs, threadId)
};

constexpr const char* kSent =
    "SELECT c.peer_channel_id AS to_id, x.channel_id, x.offset + x.bytes AS until, x.bytes, "
    "x.start_ns, x.thread_id FROM transfer x JOIN channel c ON c.id = x.channel_id WHERE c.kind IN "
    "('tcp', 'unix', 'pipe') AND x.direction = 'send' AND x.bytes > 0 AND c.peer_channel_id IS NOT "
    "NULL ORDER BY c.peer_channel_id, x.channel_id, x.offset";

// Several processes may write to one pipe. Each counts its own bytes, so those of all are counted
// in the order of time.
void countTogether(std::vector<Sent>& sent) {
  std::stable_sort(
      sent.begin(), sent.end(), [](const Sent& a, const Sent& b) { return a.startNs < b.startNs; });
  std::int64_t until = 0;
  for (Sent& each : sent)
    each.until = until += each.bytes;
}

}  // namespace

Result<ByteSenders> ByteSenders::read(const store::Database& trace) {
  ByteSenders senders;
  std::vector<Sent> sent;  // to one channel
  const auto take = [&] {
    if (!sent.empty() && sent.front().channelId != sent.back().channelId)
      countTogether(sent);
    for (const Sent& each : sent)
      senders.sent_[each.toId].push_back(
          {each.toId, each.until, each.startNs, each.startNs, each.threadId});
    sent.clear();
  };
  SONDE_TRY(store::forEach<Sent>(trace, kSent, [&](const Sent& row) {
    if (!sent.empty() && sent.front().toId != row.toId)
      take();
    sent.push_back(row);
  }));
  take();
  return senders;
}

const Bytes* ByteSenders::senderOf(const Bytes& received) const {
  const auto channel = sent_.find(received.channelId);
  if (channel == sent_.end())
    return nullptr;
  const auto by =
      std::lower_bound(channel->second.begin(),
                       channel->second.end(),
                       received.until,
                       [](const Bytes& each, std::int64_t until) { return each.until < until; });
  return by == channel->second.end() ? nullptr : &*by;
}

}  // namespace sonde::engine::waits
