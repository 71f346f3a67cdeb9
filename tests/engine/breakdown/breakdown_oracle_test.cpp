// A breakdown of random processes, against a count of each instant's operations and activities of
// every thread and device.
#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sonde::engine::breakdown {
namespace {

using model::SliceKind;
using test::must;
using Words = std::set<std::string>;
// The number of a process's instants in these operations, with these activities.
using Parts = std::map<std::pair<Words, Words>, std::int64_t>;

constexpr std::int64_t kEnd = 40;
constexpr int kNone = -1;  // no slice

// The kinds of slices, by docs/breakdown.md. `does` is empty for a slice that only shows what is
// done around it.
struct Kind {
  SliceKind kind;
  const char* category;
  const char* does;
  enum class Names { Nothing, Operation, Other } names = Names::Nothing;
};
constexpr Kind kKinds[] = {{SliceKind::Operation, "annotation", "", Kind::Names::Operation},
                           {SliceKind::DataLoad, "annotation", "", Kind::Names::Operation},
                           {SliceKind::Phase, "annotation", "", Kind::Names::Other},
                           {SliceKind::Forward, "torch", "framework", Kind::Names::Operation},
                           {SliceKind::Module, "torch", "framework", Kind::Names::Other},
                           {SliceKind::Operator, "torch", "framework"},
                           {SliceKind::Api, "cuda_runtime", "cuda_api"},
                           {SliceKind::Collective, "gloo", "comm_api"},
                           {SliceKind::Io, "io", "io"},
                           {SliceKind::Wait, "sync", "wait"},
                           {SliceKind::Python, "simulator", "simulator"},
                           {SliceKind::Python, "other", "other"}};
constexpr const char* kWorks[] = {"compute", "copy", "comm"};

struct HostSlice {
  const Kind* kind;
  std::string name;
  std::int64_t begin;
  std::int64_t end;
  int parent;  // its index in its thread
};
using HostThread = std::vector<HostSlice>;  // each after its parent and all that began earlier

struct Work {
  std::size_t does;  // of kWorks
  std::int64_t begin;
  std::int64_t end;
  std::size_t thread;  // that launched it …
  int slice;           // … in this slice
};

struct Program {
  std::vector<HostThread> threads;
  std::vector<Work> works;
};

class RandomPrograms {
 public:
  explicit RandomPrograms(unsigned seed) : random_(seed) {}

  Program next() {
    Program made;
    made.threads.resize(2 + below(2));
    for (HostThread& thread : made.threads)
      for (std::int64_t at = within(kEnd / 2); at < kEnd && below(5) != 0; at += within(3))
        at = nest(thread, kNone, at, kEnd);
    // A process that did nothing is not in a breakdown.
    const bool isIdle = std::all_of(made.threads.begin(),
                                    made.threads.end(),
                                    [](const auto& thread) { return thread.empty(); });
    for (std::size_t left = below(6) + (isIdle ? 1 : 0); left > 0; --left)
      made.works.push_back(work(made));
    return made;
  }

 private:
  std::size_t below(std::size_t most) { return random_() % most; }
  std::int64_t within(std::int64_t most) {
    return static_cast<std::int64_t>(below(static_cast<std::size_t>(most) + 1));
  }
  // Adds a slice at `begin`, with others inside; returns its end.
  std::int64_t nest(HostThread& thread, int parent, std::int64_t begin, std::int64_t most) {
    // Only few threads record transitions, since these change the meaning of all their annotations.
    const std::size_t kinds = std::size(kKinds) - (below(4) == 0 ? 0 : 2);
    const std::int64_t end = begin + within(most - begin);
    const int own = static_cast<int>(thread.size());
    thread.push_back({&kKinds[below(kinds)], fmt::format("n{}", below(4)), begin, end, parent});
    for (std::int64_t at = begin + within(3); at < end && below(3) != 0; at += within(3))
      at = nest(thread, own, at, end);
    return end;
  }
  Work work(const Program& program) {
    Work made{below(std::size(kWorks)), within(kEnd - 1), 0, below(program.threads.size()), kNone};
    made.end = made.begin + within(kEnd - made.begin);
    made.slice = static_cast<int>(below(program.threads[made.thread].size() + 1)) - 1;
    return made;
  }

  std::mt19937 random_;
};

// Writes programs as processes of one trace, which is cheaper than a trace for each.
class Writer {
 public:
  explicit Writer(const std::string& path) : trace_(path) {
    host_ = trace_.add(model::Host{.name = "h", .bootId = "b"});
    device_ = trace_.add(model::Device{.hostId = host_, .kind = "gpu"});
  }
  void finish() { trace_.finish(false); }

  std::int64_t add(const Program& program) {
    const auto process =
        trace_.add(model::Process{.hostId = host_, .pid = ++pid_, .startNs = 0, .endNs = kEnd});
    std::vector<std::vector<model::SliceId>> scopes;  // each slice itself, or the scope around it
    for (const HostThread& thread : program.threads)
      scopes.push_back(
          addThread(trace_.add(model::Thread{.processId = process, .tid = 1}), thread));
    model::StreamId streams[2];
    for (model::StreamId& stream : streams)
      stream = trace_.add(model::Stream{.processId = process, .deviceId = device_});
    for (std::size_t at = 0; at < program.works.size(); ++at) {
      const Work& work = program.works[at];
      const auto scope = work.slice == kNone
                             ? model::SliceId{}
                             : scopes[work.thread][static_cast<std::size_t>(work.slice)];
      addWork(work, streams[at % 2], scope);
    }
    return process.value;
  }

 private:
  std::vector<model::SliceId> addThread(model::ThreadId id, const HostThread& thread) {
    std::vector<model::SliceId> scopes;
    std::vector<std::int64_t> depths;
    for (const HostSlice& slice : thread) {
      const auto parent = static_cast<std::size_t>(slice.parent);
      const auto around = slice.parent == kNone ? model::SliceId{} : scopes[parent];
      depths.push_back(slice.parent == kNone ? 0 : depths[parent] + 1);
      const auto own = trace_.add(
          model::Slice{.threadId = id,
                       .kind = slice.kind->kind,
                       .category = slice.kind->category,
                       .nameId = trace_.name(slice.name),
                       .startNs = slice.begin,
                       .durNs = slice.end - slice.begin,
                       .depth = depths.back(),
                       .scopeId = around,
                       .scopeHow = around ? model::ScopeHow::Own : model::ScopeHow::None});
      scopes.push_back(model::isScope(slice.kind->kind) ? own : around);
    }
    return scopes;
  }
  void addWork(const Work& work, model::StreamId stream, model::SliceId scope) {
    model::DeviceWork row;
    row.streamId = stream;
    row.nameId = trace_.name(work.does == 2 ? "ncclDevKernel_AllReduce" : "gemm");
    row.startNs = work.begin;
    row.durNs = work.end - work.begin;
    row.scopeId = scope;
    if (work.does == 1)
      trace_.add(model::Copy{.work = row});
    else
      trace_.add(model::Kernel{.work = row});
  }

  test::TraceBuilder trace_;
  model::HostId host_;
  model::DeviceId device_;
  std::int64_t pid_ = 0;
};

bool recordsTransitions(const HostThread& thread) {
  return std::any_of(thread.begin(), thread.end(), [](const HostSlice& slice) {
    return slice.kind->kind == SliceKind::Python;
  });
}

// The innermost slice around `slice`, itself included, for which `is` holds.
template <typename Is>
const HostSlice* around(const HostThread& thread, int slice, Is is) {
  while (slice != kNone) {
    const HostSlice& each = thread[static_cast<std::size_t>(slice)];
    if (is(*each.kind))
      return &each;
    slice = each.parent;
  }
  return nullptr;
}

void addOperation(const HostThread& thread, int slice, Words& into) {
  const auto isOperation = [](const Kind& kind) { return kind.names == Kind::Names::Operation; };
  if (const HostSlice* const found = around(thread, slice, isOperation))
    into.insert(found->name);
}

// "annotated": it is in an annotation without recorded activity; "parked": it waits for no
// operation.
std::string doneIn(const HostThread& thread, int slice) {
  const HostSlice& own = thread[static_cast<std::size_t>(slice)];
  const bool isFrameworks = own.kind->names != Kind::Names::Nothing;
  if (isFrameworks && recordsTransitions(thread))
    return "python";
  if (own.kind->kind == SliceKind::Wait && around(thread, slice, [](const Kind& kind) {
                                             return kind.names != Kind::Names::Nothing;
                                           }) == nullptr)
    return "parked";
  if (*own.kind->does != '\0')
    return own.kind->does;
  return own.parent == kNone ? "annotated" : doneIn(thread, own.parent);
}

std::string doneAt(const HostThread& thread, std::int64_t at, int innermost) {
  if (innermost != kNone)
    return doneIn(thread, innermost);
  if (!recordsTransitions(thread))
    return "";
  const auto last = std::max_element(
      thread.begin(), thread.end(), [](const auto& a, const auto& b) { return a.end < b.end; });
  return thread.front().begin <= at && at < last->end ? "python" : "";
}

int innermostAt(const HostThread& thread, std::int64_t at) {
  int found = kNone;
  for (std::size_t slice = 0; slice < thread.size(); ++slice)
    if (thread[slice].begin <= at && at < thread[slice].end)
      found = static_cast<int>(slice);
  return found;
}

Parts truthOf(const Program& program, bool atLaunch) {
  Parts parts;
  for (std::int64_t at = 0; at < kEnd; ++at) {
    Words operations;
    Words host;
    Words device;
    for (const HostThread& thread : program.threads) {
      const int innermost = innermostAt(thread, at);
      addOperation(thread, innermost, operations);
      host.insert(doneAt(thread, at, innermost));
    }
    for (const Work& work : program.works) {
      if (at < work.begin || work.end <= at)
        continue;
      device.insert(kWorks[work.does]);
      if (atLaunch)
        addOperation(program.threads[work.thread], work.slice, operations);
    }
    host.erase("");
    if (host == Words{"parked"})
      host = {"wait"};
    host.erase("parked");
    host.erase("annotated");
    device.merge(host);
    ++parts[{operations, device.empty() ? Words{"other"} : device}];
  }
  return parts;
}

// Merges `parts` over the dimensions that rows do not distinguish.
Parts joined(const Parts& parts, const Dimensions& by) {
  Parts left;
  for (const auto& [of, instants] : parts)
    left[{by.operation ? of.first : Words(), by.category ? of.second : Words()}] += instants;
  return left;
}

std::map<std::int64_t, Parts> partsOf(const Breakdown& found) {
  std::map<std::int64_t, Parts> parts;
  for (const Row& row : found.rows)
    parts[row.group.processId.value()]
         [{Words(row.group.operations.begin(), row.group.operations.end()),
           Words(row.group.categories.begin(), row.group.categories.end())}] += row.ns;
  return parts;
}

// By process; also written to the trace.
std::map<std::int64_t, Program> writePrograms(unsigned seed, int count, const std::string& path) {
  std::map<std::int64_t, Program> programs;
  Writer writer(path);
  RandomPrograms random(seed);
  for (int round = 0; round < count; ++round) {
    const Program program = random.next();
    programs.emplace(writer.add(program), program);
  }
  writer.finish();
  return programs;
}

void expectTruth(const store::Database& trace,
                 const std::map<std::int64_t, Program>& programs,
                 const Options& options) {
  const auto found = partsOf(must(breakDown(trace, options)));
  ASSERT_EQ(found.size(), programs.size());
  for (const auto& [process, program] : programs)
    ASSERT_EQ(found.at(process), joined(truthOf(program, options.atLaunch), options.by))
        << "process " << process << (options.atLaunch ? " at launch" : " at execution");
}

// 100,000 programs.
TEST(BreakdownOracle, EachInstantIsOfWhatThreadsAndDevicesWereInAndDid) {
  constexpr int kPrograms = 10'000;
  constexpr std::pair<bool, bool> kBy[] = {{true, true}, {true, false}, {false, true}};
  const unsigned rounds = std::getenv("SONDE_SLOW") != nullptr ? 10 : 3;
  for (unsigned round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    const test::TemporaryFolder folder;
    const auto programs = writePrograms(23 + round, kPrograms, folder / "t.sonde");
    const auto trace = must(store::openTrace(folder / "t.sonde"));
    const auto [operation, category] = kBy[round % std::size(kBy)];
    const Dimensions by{.process = true, .operation = operation, .category = category};
    for (const bool atLaunch : {true, false})
      expectTruth(trace, programs, {.by = by, .atLaunch = atLaunch});
  }
}

}  // namespace
}  // namespace sonde::engine::breakdown
