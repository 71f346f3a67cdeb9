#include "analysis/engine/waits/loader_waits.h"

#include "analysis/engine/waits/byte_senders.h"
#include "analysis/engine/waits/loader_processes.h"
#include "analysis/engine/waits/wait_sink.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace sonde::engine::waits {
namespace {

struct Load {
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;

  SONDE_COLUMNS(threadId, startNs, endNs)
};

constexpr const char* kLoads =
    "SELECT thread_id, start_ns, start_ns + dur_ns AS end_ns FROM slice WHERE kind = 'data_load' "
    "AND lane = 0 AND dur_ns > 0 ORDER BY thread_id, start_ns";

using Loads = std::unordered_map<std::int64_t, std::vector<Load>>;  // by thread, in order

// Leaves out loads inside other ones.
Result<Loads> readLoads(const store::Database& trace) {
  Loads loads;
  SONDE_TRY(store::forEach<Load>(trace, kLoads, [&](const Load& row) {
    std::vector<Load>& all = loads[row.threadId];
    if (all.empty() || all.back().endNs <= row.startNs)
      all.push_back(row);
  }));
  return loads;
}

// The load in which the bytes came; null: none.
const Load* loadOf(const Loads& loads, const Bytes& received) {
  const auto thread = loads.find(received.threadId);
  if (thread == loads.end())
    return nullptr;
  const auto behind =
      std::upper_bound(thread->second.begin(),
                       thread->second.end(),
                       received.startNs,
                       [](std::int64_t ns, const Load& each) { return ns < each.startNs; });
  if (behind == thread->second.begin() || (behind - 1)->endNs < received.endNs)
    return nullptr;
  return &*(behind - 1);
}

// A message that a process sends to another one.
struct Batch {
  std::int64_t processId = 0;
  std::int64_t receiverId = 0;  // a process
  std::int64_t startNs = 0;
  std::int64_t threadId = 0;

  SONDE_COLUMNS(processId, receiverId, startNs, threadId)
};

// Messages of 4 bytes are the lengths of long ones, which follow.
constexpr const char* kBatches =
    "SELECT c.process_id, q.process_id AS receiver_id, x.start_ns, x.thread_id FROM transfer x "
    "JOIN "
    "channel c ON c.id = x.channel_id JOIN channel q ON q.id = c.peer_channel_id WHERE c.kind = "
    "'pipe' AND x.direction = 'send' AND x.bytes > 0 AND x.bytes <> 4 ORDER BY x.start_ns";

// The first use of a connection: its server greets the client.
struct Greeting {
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;
  std::int64_t clientId = 0;  // a thread

  SONDE_COLUMNS(threadId, startNs, clientId)
};

// The bare columns are those of the row with the least time.
constexpr const char* kGreetings =
    "WITH first AS (SELECT x.channel_id, c.peer_channel_id, x.thread_id, x.direction, "
    "min(x.start_ns) AS start_ns FROM channel c JOIN transfer x ON x.channel_id = c.id WHERE "
    "c.kind = 'unix' AND x.thread_id IS NOT NULL GROUP BY c.id) SELECT a.thread_id, a.start_ns, "
    "b.thread_id AS client_id FROM first a JOIN first b ON b.channel_id = a.peer_channel_id WHERE "
    "a.direction = 'send' AND b.direction = 'receive'";

// The parent asks for a batch; the request arrives in parts.
struct Order {
  Bytes sent;
  Bytes received;
};

using Pipes = std::unordered_map<std::int64_t, std::vector<Order>>;  // by the receiver's channel

class LoaderWaits {
 public:
  LoaderWaits(const store::Database& trace, Lanes& lanes, const align::JobClock& clock)
      : trace_(trace), lanes_(lanes), sink_(lanes, clock) {}

  Result<void> add(Waits& into) {
    SONDE_TRY_ASSIGN(loads_, readLoads(trace_));
    if (loads_.empty())
      return {};
    SONDE_TRY(sink_.readHosts(trace_));
    SONDE_TRY_ASSIGN(loaders_, readLoaderProcesses(trace_));
    SONDE_TRY_ASSIGN(const ByteSenders senders, ByteSenders::read(trace_));
    SONDE_TRY(store::forEach<Bytes>(
        trace_, std::string(kReceivedBytes) + " AND c.kind = 'pipe'", [&](const Bytes& received) {
          if (const Bytes* const sent = senders.senderOf(received))
            addReceived(received, *sent);
        }));
    SONDE_TRY(addOrders());
    SONDE_TRY(store::forEach<Greeting>(
        trace_, kGreetings, [&](const Greeting& each) { addGreeting(each); }));
    Waits found = sink_.take();
    std::move(found.waits.begin(), found.waits.end(), std::back_inserter(into.waits));
    return {};
  }

 private:
  void addReceived(const Bytes& received, const Bytes& sent) {
    const std::int64_t process = processOf(received.threadId);
    if (processOf(sent.threadId) == process)
      return;
    if (const Load* const load = loadOf(loads_, received))
      addWait(received, sent, load->startNs);
    else if (loaders_.contains(process))
      orders_[process][received.channelId].push_back({sent, received});
  }

  void addWait(const Bytes& received, const Bytes& sent, std::int64_t begin) {
    if (begin < sent.startNs && sent.startNs < received.startNs)
      sink_.add({sink_.laneOfThread(received.threadId),
                 sink_.laneOfThread(sent.threadId),
                 begin,
                 received.endNs,
                 sent.startNs});
  }

  Result<void> addOrders() {
    std::unordered_map<std::int64_t, std::vector<Batch>> batches;  // by process, in order
    SONDE_TRY(store::forEach<Batch>(trace_, kBatches, [&](const Batch& row) {
      const auto loader = loaders_.find(row.processId);
      if (loader != loaders_.end() && loader->second.loadsFor == row.receiverId)
        batches[row.processId].push_back(row);
    }));
    for (auto& [process, pipes] : orders_)
      addOrdersOf(ordersOf(pipes), batches[process]);
    return {};
  }

  // Those of the pipe with the most. A worker that was spawned got its program through another one.
  static std::vector<Order> ordersOf(Pipes& pipes) {
    std::vector<Order> most;
    for (auto& [channel, orders] : pipes) {
      std::vector<Order> whole = withoutParts(orders);
      if (most.empty() || whole.size() > most.size() ||
          (whole.size() == most.size() &&
           whole.front().received.startNs > most.front().received.startNs))
        most = std::move(whole);
    }
    return most;
  }

  static std::vector<Order> withoutParts(std::vector<Order>& orders) {
    std::sort(orders.begin(), orders.end(), [](const Order& a, const Order& b) {
      return a.received.startNs < b.received.startNs;
    });
    std::vector<Order> whole;
    for (const Order& each : orders)
      if (whole.empty() || whole.back().sent.startNs != each.sent.startNs)
        whole.push_back(each);
    return whole;
  }

  void addOrdersOf(const std::vector<Order>& orders, const std::vector<Batch>& batches) {
    for (std::size_t i = 0; i < std::min(orders.size(), batches.size()); ++i) {
      const bool isLast = i + 1 == orders.size();
      // Once it has sent a batch for each order so far, it has nothing to do.
      if (!isLast)
        addWait(orders[i + 1].received, orders[i + 1].sent, batches[i].startNs);
      // A thread of its own sends the batch. The batch was ready before the next order was taken.
      const std::int64_t readyNs =
          isLast ? batches[i].startNs
                 : std::min(batches[i].startNs, orders[i + 1].received.startNs);
      sink_.add({sink_.laneOfThread(batches[i].threadId),
                 sink_.laneOfThread(orders[i].received.threadId),
                 i == 0 ? Wait::kStart : batches[i - 1].startNs,
                 batches[i].startNs,
                 readyNs});
    }
  }

  // The client connected after the last that it had done before.
  void addGreeting(const Greeting& each) {
    const auto server = lanes_.threads.find(each.threadId);
    const auto client = lanes_.threads.find(each.clientId);
    if (server == lanes_.threads.end() || client == lanes_.threads.end() ||
        !loaders_.contains(server->second.processId))
      return;
    const std::optional<std::int64_t> connect = lastBefore(client->second, each.startNs);
    if (connect)
      sink_.add({server->second.lane,
                 client->second.lane,
                 lastBefore(server->second, each.startNs).value_or(Wait::kStart),
                 each.startNs,
                 *connect});
  }

  static std::optional<std::int64_t> lastBefore(const ThreadFacts& thread, std::int64_t ns) {
    const auto behind = std::upper_bound(thread.ends.begin(), thread.ends.end(), ns);
    return behind == thread.ends.begin() ? std::nullopt : std::optional(*(behind - 1));
  }

  std::int64_t processOf(std::int64_t thread) const {
    const auto facts = lanes_.threads.find(thread);
    return facts == lanes_.threads.end() ? 0 : facts->second.processId;
  }

  const store::Database& trace_;
  Lanes& lanes_;
  WaitSink sink_;
  Loads loads_;
  std::map<std::int64_t, LoaderProcess> loaders_;
  std::unordered_map<std::int64_t, Pipes> orders_;  // by process
};

}  // namespace

Result<void> addLoaderWaits(const store::Database& trace,
                            Lanes& lanes,
                            const align::JobClock& clock,
                            Waits& into) {
  return LoaderWaits(trace, lanes, clock).add(into);
}

}  // namespace sonde::engine::waits
