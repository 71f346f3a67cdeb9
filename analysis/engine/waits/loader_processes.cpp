#include "analysis/engine/waits/loader_processes.h"

#include "analysis/store/read_rows.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace sonde::engine::waits {
namespace {

struct RankLoad {
  std::int64_t processId = 0;
  std::int64_t threadId = 0;
  std::int64_t nameId = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;

  SONDE_COLUMNS(processId, threadId, nameId, startNs, endNs)
};

constexpr const char* kRankLoads =
    "SELECT t.process_id, s.thread_id, s.name_id, s.start_ns, s.start_ns + s.dur_ns AS end_ns FROM "
    "slice s JOIN thread t ON t.id = s.thread_id WHERE s.kind = 'data_load' AND s.dur_ns > 0 ORDER "
    "BY s.start_ns";

struct Descent {
  std::int64_t processId = 0;
  std::int64_t ancestorId = 0;
  std::optional<std::int64_t> startNs;  // of the process

  SONDE_COLUMNS(processId, ancestorId, startNs)
};

constexpr const char* kDescents =
    "WITH RECURSIVE above(id, ancestor) AS (SELECT id, parent_id FROM process WHERE parent_id IS "
    "NOT NULL UNION SELECT a.id, p.parent_id FROM above a JOIN process p ON p.id = a.ancestor "
    "WHERE "
    "p.parent_id IS NOT NULL) SELECT a.id AS process_id, a.ancestor AS ancestor_id, p.start_ns "
    "FROM "
    "above a JOIN process p ON p.id = a.id";

struct PipeReceive {
  std::int64_t channelId = 0;
  std::int64_t threadId = 0;
  std::int64_t startNs = 0;

  SONDE_COLUMNS(channelId, threadId, startNs)
};

constexpr const char* kPipeReceives =
    "SELECT x.channel_id, x.thread_id, x.start_ns FROM transfer x JOIN channel c ON c.id = "
    "x.channel_id WHERE c.kind = 'pipe' AND x.direction = 'receive' AND x.bytes > 0 AND "
    "x.thread_id "
    "IS NOT NULL";

struct PipeSender {
  std::int64_t processId = 0;
  std::int64_t receiverId = 0;  // a process
  std::int64_t channelId = 0;   // the receiver's

  SONDE_COLUMNS(processId, receiverId, channelId)
};

constexpr const char* kPipeSenders =
    "SELECT DISTINCT c.process_id, q.process_id AS receiver_id, q.id AS channel_id FROM transfer x "
    "JOIN channel c ON c.id = x.channel_id JOIN channel q ON q.id = c.peer_channel_id WHERE c.kind "
    "= 'pipe' AND x.direction = 'send' AND x.bytes > 0";

// Stretches of time by their begin; they may overlap.
class Stretches {
 public:
  void add(std::int64_t beginNs, std::int64_t endNs) {
    const std::int64_t last = all_.empty() ? endNs : std::max(endNs, all_.back().second);
    all_.emplace_back(beginNs, last);
  }
  bool have(std::int64_t ns) const {
    const auto behind = std::partition_point(
        all_.begin(), all_.end(), [&](const auto& each) { return each.first <= ns; });
    return behind != all_.begin() && ns <= (behind - 1)->second;
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> all_;  // the begin; the last end so far
};

class LoaderFinder {
 public:
  explicit LoaderFinder(const store::Database& trace) : trace_(trace) {}

  Result<std::map<std::int64_t, LoaderProcess>> find() {
    SONDE_TRY(store::forEach<RankLoad>(trace_, kRankLoads, [this](const RankLoad& row) {
      ofThreads_[row.threadId].add(row.startNs, row.endNs);
      ofProcesses_[row.processId].add(row.startNs, row.endNs);
      ++names_[row.processId][row.nameId];
    }));
    if (ofProcesses_.empty())
      return std::move(found_);
    SONDE_TRY(addDescendants());
    SONDE_TRY(addSenders());
    return std::move(found_);
  }

 private:
  Result<void> addDescendants() {
    return store::forEach<Descent>(trace_, kDescents, [this](const Descent& row) {
      const auto loads = ofProcesses_.find(row.ancestorId);
      if (loads == ofProcesses_.end())
        return;
      descents_.emplace(row.processId, row.ancestorId);
      if (row.startNs && loads->second.have(*row.startNs))
        found_.try_emplace(row.processId, loaderFor(row.ancestorId));
    });
  }

  Result<void> addSenders() {
    std::unordered_set<std::int64_t> channels;
    SONDE_TRY(store::forEach<PipeReceive>(trace_, kPipeReceives, [&](const PipeReceive& row) {
      const auto loads = ofThreads_.find(row.threadId);
      if (loads != ofThreads_.end() && loads->second.have(row.startNs))
        channels.insert(row.channelId);
    }));
    return store::forEach<PipeSender>(trace_, kPipeSenders, [&](const PipeSender& row) {
      const auto [first, last] = descents_.equal_range(row.processId);
      const bool descends =
          std::any_of(first, last, [&](const auto& each) { return each.second == row.receiverId; });
      if (descends && channels.contains(row.channelId))
        found_[row.processId] = loaderFor(row.receiverId);
    });
  }

  LoaderProcess loaderFor(std::int64_t process) const {
    const auto& names = names_.at(process);
    const auto most =
        std::max_element(names.begin(), names.end(), [](const auto& a, const auto& b) {
          return a.second < b.second;
        });
    return {process, most->first};
  }

  const store::Database& trace_;
  std::unordered_map<std::int64_t, Stretches> ofThreads_;
  std::unordered_map<std::int64_t, Stretches> ofProcesses_;
  std::unordered_map<std::int64_t, std::map<std::int64_t, std::int64_t>> names_;  // by process
  std::unordered_multimap<std::int64_t, std::int64_t> descents_;  // from those with loads
  std::map<std::int64_t, LoaderProcess> found_;
};

}  // namespace

Result<std::map<std::int64_t, LoaderProcess>> readLoaderProcesses(const store::Database& trace) {
  return LoaderFinder(trace).find();
}

}  // namespace sonde::engine::waits
