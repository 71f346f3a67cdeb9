// A training job to simulate: the program of every thread, and the machines and links that run it.
// Plain values. Times and lengths are ns of true time.
//
// The simulation is the tests' own model of a job. It shares no code with the engines, so that it
// can say how long the job really takes under another setting.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace sonde::jobsim {

using Ns = std::int64_t;

struct Machine {
  std::string name;
  int cores = 0;  // 0: one for each thread
  // The machine's clock shows true time + offsetNs + driftPpb / 10^9 * true time.
  Ns offsetNs = 0;
  std::int64_t driftPpb = 0;
};

// From one machine to another. It carries one message at a time, in the order of sending.
struct Link {
  Ns latencyNs = 0;
  std::int64_t bytesPerUs = 0;  // 0: every message takes `latencyNs`

  Ns timeOf(std::int64_t bytes) const noexcept {
    return bytesPerUs == 0 ? 0 : bytes * 1000 / bytesPerUs;
  }
};

// The ranks of a communicator. An all-reduce of n ranks takes the time of a ring: 2 (n - 1) steps,
// each of which moves a share of 1 / n.
struct Group {
  std::string name;
  std::vector<int> ranks;
  Link link;
};

enum class Collective : std::uint8_t { Allreduce, Allgather, ReduceScatter, Alltoall, Barrier };

// How long the data of a collective are on their way.
inline Ns transferNs(const Group& group, Collective op, std::int64_t bytes) noexcept {
  const auto ranks = static_cast<std::int64_t>(group.ranks.size());
  const bool isTwice = op == Collective::Allreduce || op == Collective::Barrier;
  const std::int64_t steps = (ranks - 1) * (isTwice ? 2 : 1);
  return steps * (group.link.latencyNs + group.link.timeOf(bytes) / ranks);
}

// Uses a processor.
struct Compute {
  std::string name;
  Ns ns;
};
// The thread rests, without a processor.
struct Sleep {
  std::string name;
  Ns ns;
};
enum class CopyWay : std::uint8_t { None, ToDevice, ToHost };
// A call that uses a processor for `callNs` and puts a kernel, or a copy between the host and the
// device, into a stream of the rank's device.
struct Launch {
  std::string name;
  Ns callNs;
  int stream;
  Ns ns;
  std::int64_t blocks = 0;  // of kLaunchThreads threads; 0: the trace does not have them
  CopyWay copies = CopyWay::None;
  std::int64_t bytes = 0;  // of a copy
};
inline constexpr std::int64_t kLaunchThreads = 256;
// The same for a collective: its kernel ends on all ranks when the last one's has begun and the
// data have been moved.
struct LaunchCollective {
  Collective op;
  Ns callNs;
  int stream;
  int group;
  std::int64_t bytes;
};
struct RecordEvent {
  Ns callNs;
  int stream;
  int event;
};
// Later work of the stream waits for the event's last record.
struct WaitEvent {
  Ns callNs;
  int stream;
  int event;
};
// The thread waits until all work that is in the stream is done, and `returnNs` longer.
struct Synchronise {
  int stream;
  Ns returnNs;
};
// The thread takes part in a collective, and waits without a processor until it is done.
struct Meet {
  Collective op;
  int group;
  std::int64_t bytes;
};
// Messages between ranks, in the order of sending for each peer and tag. Send uses a processor for
// `callNs` and does not wait for the receiver.
struct Send {
  int peer;
  int tag;
  std::int64_t bytes;
  Ns callNs;
};
struct Receive {
  int peer;
  int tag;
};
// Queues between threads of a rank, such as batches of a loader. Put waits while the queue is full.
struct Put {
  int queue;
};
struct Take {
  int queue;
};
// A block of memory: the device's, or the host's if the rank has no device. Each has a number of
// its own within its rank.
struct Allocate {
  int block;
  std::int64_t bytes;
};
struct Free {
  int block;
};
// Annotations.
enum class Scope : std::uint8_t { Iteration, Operation, Load, Backward, Operator };
struct Begin {
  Scope scope;
  std::string name;
  // An operator's inputs, such as "[[8, 3, 32, 32], [4, 3, 3, 3]]" and "[float, float]"; empty: not
  // recorded.
  std::string shapes = {};
  std::string types = {};
};
struct End {};

using Op = std::variant<Compute,
                        Sleep,
                        Launch,
                        LaunchCollective,
                        RecordEvent,
                        WaitEvent,
                        Synchronise,
                        Meet,
                        Send,
                        Receive,
                        Put,
                        Take,
                        Allocate,
                        Free,
                        Begin,
                        End>;

struct Thread {
  int rank;
  std::string name;
  std::vector<Op> program;
};

struct Rank {
  int machine;
  int streams = 0;
  Ns startNs = 0;  // when its threads start
};

struct Job {
  std::vector<Machine> machines;
  std::vector<Rank> ranks;
  std::vector<Thread> threads;
  std::vector<Group> groups;
  std::vector<int> queueLengths;  // of each queue: how many it holds
  std::vector<int> events;        // one entry for each event: its rank
  Link link;                      // between two machines; within one, messages take no time
  std::string deviceName = {};    // of each rank; empty: the trace does not have it
  Ns launchLatencyNs = 0;         // from a launch's return to its arrival at the device
  bool isOneJob = true;           // false: each rank is a job of its own
};

}  // namespace sonde::jobsim
