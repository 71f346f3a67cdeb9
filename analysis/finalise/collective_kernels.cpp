#include "analysis/finalise/collective_kernels.h"

#include "analysis/store/statement.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde::ingest {
namespace {

using store::Database;
using store::Statement;

struct Kernel {
  std::int64_t id = 0;
  std::optional<std::int64_t> endNs;
  std::int64_t launchNs = 0;
  std::string function;  // from its name; empty: unknown
};
using Kernels = std::vector<Kernel>;  // in launch order

struct Collective {
  std::int64_t id = 0;
  std::int64_t communicator = 0;
  std::string_view function;    // that its kernel's name would have
  std::int64_t launchedNs = 0;  // its kernel was launched before this time; 0: unknown
  std::int64_t group = 0;       // of its thread, in which it was called; 0: none
};
using Collectives = std::vector<Collective>;  // in call order

constexpr std::string_view kKernels =
    "SELECT k.id, k.start_ns + k.dur_ns, n.text, k.launch_slice_id, s.start_ns FROM kernel k JOIN "
    "string n ON "
    "n.id = k.name_id JOIN slice s ON s.id = k.launch_slice_id WHERE n.text GLOB 'ncclDevKernel*' "
    "OR n.text GLOB 'ncclKernel*' OR n.text GLOB 'ncclSym*' ORDER BY s.start_ns, k.id";

constexpr std::string_view kFacts =
    "CREATE TEMP TABLE called AS SELECT slice_id, id, communicator_id, op FROM collective WHERE "
    "slice_id IS NOT NULL AND kernel_id IS NULL AND algorithm IS NOT 'CE';"
    "CREATE INDEX temp.called_by_slice ON called(slice_id);"
    "CREATE TEMP TABLE fact AS SELECT a.owner_id, s.text AS key, a.value FROM arg a JOIN string s "
    "ON s.id = a.key_id WHERE a.owner = 'collective' AND s.text IN ('grouped', 'launched_ns');"
    "CREATE INDEX temp.fact_by_owner ON fact(owner_id, key);";

// The calls of NCCL by thread and start, and the ends of groups, which belong to no collective.
constexpr std::string_view kCalls =
    "SELECT s.id, s.thread_id, c.id, c.communicator_id, c.op, (SELECT value FROM temp.fact WHERE "
    "owner_id = c.id AND key = 'grouped'), (SELECT value FROM temp.fact WHERE owner_id = c.id AND "
    "key = 'launched_ns') FROM slice s LEFT JOIN temp.called c ON c.slice_id = s.id WHERE "
    "s.category = 'nccl' AND (c.id IS NOT NULL OR s.name_id = (SELECT id FROM string WHERE text = "
    "'ncclGroupEnd')) ORDER BY s.thread_id, s.start_ns, s.id";

// ncclDevKernel_AllReduce_Sum_f32_RING_LL(…) gives AllReduce. Kernels for symmetric memory are
// named ncclSymDevKernel_AllReduce_… in NCCL 2.27, and ncclSymkDevKernel_AllReduce_… in later
// versions.
std::string functionOfKernel(std::string_view name) {
  const std::size_t from = name.find('_');
  if (from == std::string_view::npos)
    return "";
  const std::string_view rest = name.substr(from + 1);
  const std::string_view word = rest.substr(0, rest.find_first_of("_(<"));
  if (word == "AllGatherV")  // NCCL 2.29 and later broadcast with it
    return "Broadcast";
  return word == "Generic" ? "" : std::string(word);
}

std::string_view functionOfOp(std::string_view op) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"allreduce", "AllReduce"},
      {"allgather", "AllGather"},
      {"reducescatter", "ReduceScatter"},
      {"broadcast", "Broadcast"},
      {"reduce", "Reduce"}};
  for (const auto& [word, name] : kNames) {
    if (op == word)
      return name;
  }
  return "SendRecv";
}

// The collectives launched inside a slice, by the slice's id. If the end of a group was lost, calls
// in the group get no slice. A call outside of a group, or in another one, shows the loss.
using Calls = std::map<std::int64_t, Collectives>;

Result<Calls> readCalls(const Database& trace) {
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(kCalls));
  Calls calls;
  Collectives open;  // of the thread's current group
  std::int64_t thread = 0;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return calls;
    if (rows.integer(1) != thread)
      open.clear();
    thread = rows.integer(1);
    const Collective call{rows.integer(2),
                          rows.integer(3),
                          functionOfOp(rows.text(4)),
                          rows.integer(6),
                          rows.integer(5)};
    const bool isEnd = rows.isNull(2);
    if (!isEnd && !open.empty() && open.front().group != call.group)
      open.clear();
    if (isEnd)
      calls[rows.integer(0)] = std::exchange(open, {});
    else if (call.group != 0)
      open.push_back(call);
    else
      calls[rows.integer(0)] = {call};
  }
}

// The NCCL slice that contains the launch; 0: none.
Result<std::int64_t> callAround(Statement& slice, std::int64_t launch) {
  for (std::int64_t id = launch; id != 0;) {
    slice.reset();
    slice.bindAll(id);
    SONDE_TRY_ASSIGN(const bool there, slice.step());
    if (!there)
      return std::int64_t{0};
    if (slice.text(1) == "nccl")
      return id;
    id = slice.integer(0);
  }
  return std::int64_t{0};
}

Result<std::map<std::int64_t, Kernels>> readKernels(const Database& trace) {
  SONDE_TRY_ASSIGN(Statement rows, trace.prepare(kKernels));
  SONDE_TRY_ASSIGN(Statement slice,
                   trace.prepare("SELECT parent_id, category FROM slice WHERE id = ?1"));
  std::map<std::int64_t, Kernels> launched;
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, rows.step());
    if (!more)
      return launched;
    Kernel kernel{rows.integer(0), std::nullopt, rows.integer(4), functionOfKernel(rows.text(2))};
    if (!rows.isNull(1))
      kernel.endNs = rows.integer(1);
    SONDE_TRY_ASSIGN(const std::int64_t call, callAround(slice, rows.integer(3)));
    if (call != 0)
      launched[call].push_back(std::move(kernel));
  }
}

bool isOneCommunicator(const Collectives& collectives) {
  return std::all_of(collectives.begin(), collectives.end(), [&](const Collective& each) {
    return each.communicator == collectives.front().communicator;
  });
}

// The last kernel launched before `ns`; nullptr: none.
const Kernel* lastBefore(const Kernels& kernels, std::int64_t ns) {
  const Kernel* last = nullptr;
  for (const Kernel& kernel : kernels) {
    if (kernel.launchNs <= ns)
      last = &kernel;
  }
  return last;
}

// The only kernel of the function; nullptr: none or several.
const Kernel* onlyOf(const Kernels& kernels, std::string_view function) {
  const Kernel* only = nullptr;
  int count = 0;
  for (const Kernel& kernel : kernels) {
    if (kernel.function != function)
      continue;
    only = &kernel;
    ++count;
  }
  return count == 1 ? only : nullptr;
}

// `all`: the collectives launched together with it.
const Kernel* kernelOf(const Collective& collective,
                       const Collectives& all,
                       const Kernels& kernels) {
  if (collective.launchedNs != 0)
    return lastBefore(kernels, collective.launchedNs);
  if (isOneCommunicator(all) && kernels.size() == 1)
    return &kernels.front();
  Collectives same;
  std::copy_if(all.begin(), all.end(), std::back_inserter(same), [&](const Collective& each) {
    return each.function == collective.function;
  });
  return isOneCommunicator(same) ? onlyOf(kernels, collective.function) : nullptr;
}

// Joins the collectives called in one slice with the kernels launched in it.
Result<void> joinCall(const Collectives& collectives, const Kernels& kernels, Statement& join) {
  for (const Collective& each : collectives) {
    const Kernel* const kernel = kernelOf(each, collectives, kernels);
    if (kernel == nullptr)
      continue;
    join.bindAll(each.id, kernel->id, kernel->endNs);
    SONDE_TRY(join.run());
  }
  return {};
}

}  // namespace

Result<void> joinCollectiveKernels(Database& trace) {
  SONDE_TRY_ASSIGN(const auto launched, readKernels(trace));
  if (launched.empty())
    return {};
  SONDE_TRY(trace.exec(kFacts));
  SONDE_TRY_ASSIGN(const Calls calls, readCalls(trace));
  SONDE_TRY(trace.exec("DROP TABLE temp.fact; DROP TABLE temp.called"));
  SONDE_TRY_ASSIGN(Statement join,
                   trace.prepare("UPDATE collective SET kernel_id = ?2, dur_ns = coalesce(dur_ns, "
                                 "max(?3 - start_ns, 0)) WHERE id = ?1"));
  for (const auto& [slice, kernels] : launched) {
    if (const auto found = calls.find(slice); found != calls.end())
      SONDE_TRY(joinCall(found->second, kernels, join));
  }
  return {};
}

}  // namespace sonde::ingest
