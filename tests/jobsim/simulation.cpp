#include "tests/jobsim/simulation.h"

#include "tests/jobsim/event_queue.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace sonde::jobsim {
namespace {

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <typename... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

// Those who take part in one collective.
struct Meeting {
  std::vector<std::function<void(Ns lastNs)>> members;
};

class Simulation {
 public:
  explicit Simulation(const Job& job)
      : job_(job),
        next_(job.threads.size(), 0),
        free_(job.machines.size()),
        ready_(job.machines.size()),
        streams_(job.ranks.size()),
        queues_(job.queueLengths.size()),
        recorded_(job.events.size()),
        happened_(job.events.size()) {
    for (std::size_t at = 0; at < job.machines.size(); ++at)
      free_[at] = job.machines[at].cores > 0 ? job.machines[at].cores : 1 << 30;
    for (std::size_t at = 0; at < job.ranks.size(); ++at)
      streams_[at].resize(static_cast<std::size_t>(job.ranks[at].streams));
  }

  History run();

 private:
  // An item of a stream.
  struct Item {
    enum class Kind { Kernel, Collective, Record, Wait } kind;
    DeviceWork work = {};
    Ns ns = 0;      // of a kernel
    int group = 0;  // of a collective
    Collective op{};
    std::int64_t bytes = 0;
    int event = 0;  // of a record or wait, and its number
    int number = 0;
  };
  struct Stream {
    std::deque<Item> items;
    bool isBusy = false;
    std::uint64_t pushed = 0;
    std::uint64_t done = 0;
    std::vector<std::pair<std::uint64_t, std::function<void()>>> waiting;  // until so many are done
  };
  struct Queue {
    std::deque<std::size_t> items;          // the steps that put them there
    std::deque<std::pair<int, Ns>> takers;  // threads that wait, and since when
    std::deque<std::pair<int, Ns>> putters;
  };
  using Mail = std::tuple<int, int, int>;  // from, to, tag

  const Thread& thread(int index) const { return job_.threads[static_cast<std::size_t>(index)]; }
  const Op& opOf(int index) const {
    return thread(index).program[next_[static_cast<std::size_t>(index)]];
  }
  int machineOf(int rank) const { return job_.ranks[static_cast<std::size_t>(rank)].machine; }
  Stream& stream(int rank, int number) {
    return streams_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(number)];
  }

  // The thread comes to its next step.
  void proceed(int index);
  // The step has ended now.
  std::size_t finish(int index, Ns begin, Ns ready, std::size_t cause = kNone);
  // Runs the thread on a processor for `ns`, then calls `then` with the step.
  void occupy(int index, Ns ns, std::function<void(std::size_t)> then);
  void giveProcessors();

  void push(int rank, int number, Item item);
  void startNext(int rank, int number);
  void endItem(int rank, int number);
  void startCollective(int rank, int number, Item item);
  void meet(int rank, int group, Collective op, std::int64_t bytes, std::function<void(Ns)> then);
  void send(int index, const Send& op);
  void receive(int index, const Receive& op);
  void put(int index, const Put& op);
  void take(int index, const Take& op);
  void synchronise(int index, const Synchronise& op);

  struct Wanting {
    Ns since;
    int thread;
    Ns ns;
    std::function<void(std::size_t)> then;
    bool operator<(const Wanting& other) const {
      return std::tie(since, thread) < std::tie(other.since, other.thread);
    }
  };

  const Job& job_;
  EventQueue clock_;
  History run_;
  std::vector<std::size_t> next_;  // step of each thread
  std::vector<int> free_;          // processors of each machine
  std::vector<std::set<Wanting>> ready_;
  std::vector<std::vector<Stream>> streams_;
  std::vector<Queue> queues_;
  std::vector<int> recorded_;            // how often each event was recorded by calls …
  std::vector<std::set<int>> happened_;  // … and which of these the device has done
  std::map<int, std::vector<std::pair<int, int>>> heldUp_;  // by event: streams that wait
  std::map<std::tuple<int, int>, int> collectives_;  // by group and rank: how many it has begun
  std::map<std::pair<int, int>, Meeting> meetings_;  // by group and ordinal
  std::map<std::pair<int, int>, Ns> linkFree_;       // by machines
  std::map<Mail, std::deque<std::size_t>> mail_;     // that has arrived: the steps that sent it
  std::map<Mail, std::deque<std::pair<int, Ns>>> receivers_;
  std::size_t ended_ = 0;
};

History Simulation::run() {
  for (std::size_t at = 0; at < job_.threads.size(); ++at) {
    const int index = static_cast<int>(at);
    clock_.at(job_.ranks[static_cast<std::size_t>(thread(index).rank)].startNs,
              [this, index] { proceed(index); });
  }
  while (clock_.next()) {
    if (!clock_.isMoreDueNow())
      giveProcessors();
  }
  run_.endNs = ended_ == job_.threads.size() ? clock_.now() : -1;
  return std::move(run_);
}

std::size_t Simulation::finish(int index, Ns begin, Ns ready, std::size_t cause) {
  run_.steps.push_back({index, &opOf(index), begin, ready, clock_.now(), cause});
  ++next_[static_cast<std::size_t>(index)];
  clock_.at(clock_.now(), [this, index] { proceed(index); });
  return run_.steps.size() - 1;
}

void Simulation::occupy(int index, Ns ns, std::function<void(std::size_t)> then) {
  ready_[static_cast<std::size_t>(machineOf(thread(index).rank))].insert(
      {clock_.now(), index, ns, std::move(then)});
}

void Simulation::giveProcessors() {
  for (std::size_t machine = 0; machine < ready_.size(); ++machine) {
    while (free_[machine] > 0 && !ready_[machine].empty()) {
      Wanting first = *ready_[machine].begin();
      ready_[machine].erase(ready_[machine].begin());
      --free_[machine];
      const Ns began = clock_.now();
      clock_.at(began + first.ns, [this, machine, began, first] {
        ++free_[machine];
        first.then(finish(first.thread, first.since, began));
      });
    }
  }
}

void Simulation::push(int rank, int number, Item item) {
  Stream& into = stream(rank, number);
  ++into.pushed;
  item.work.rank = rank;
  item.work.stream = number;
  item.work.arrival = clock_.now() + job_.launchLatencyNs;
  clock_.at(item.work.arrival, [this, rank, number, item] {
    stream(rank, number).items.push_back(item);
    startNext(rank, number);
  });
}

void Simulation::startNext(int rank, int number) {
  Stream& from = stream(rank, number);
  if (from.isBusy || from.items.empty())
    return;
  Item item = from.items.front();
  const auto event = static_cast<std::size_t>(item.event);
  if (item.kind == Item::Kind::Wait && item.number > 0 && !happened_[event].contains(item.number)) {
    auto& held = heldUp_[item.event];
    if (std::find(held.begin(), held.end(), std::pair(rank, number)) == held.end())
      held.emplace_back(rank, number);
    return;
  }
  from.items.pop_front();
  from.isBusy = true;
  item.work.begin = clock_.now();
  switch (item.kind) {
    case Item::Kind::Kernel:
      clock_.at(clock_.now() + item.ns, [this, rank, number, item]() mutable {
        item.work.end = clock_.now();
        run_.works.push_back(item.work);
        endItem(rank, number);
      });
      return;
    case Item::Kind::Collective:
      return startCollective(rank, number, item);
    case Item::Kind::Record:
      happened_[event].insert(item.number);
      for (const auto& [otherRank, other] : std::exchange(heldUp_[item.event], {}))
        clock_.at(clock_.now(), [this, r = otherRank, s = other] { startNext(r, s); });
      [[fallthrough]];
    case Item::Kind::Wait:
      return endItem(rank, number);
  }
}

void Simulation::endItem(int rank, int number) {
  Stream& of = stream(rank, number);
  of.isBusy = false;
  ++of.done;
  const auto waiting = std::exchange(of.waiting, {});
  for (const auto& [count, then] : waiting) {
    if (of.done >= count)
      then();
    else
      of.waiting.emplace_back(count, then);
  }
  clock_.at(clock_.now(), [this, rank, number] { startNext(rank, number); });
}

void Simulation::startCollective(int rank, int number, Item item) {
  meet(rank, item.group, item.op, item.bytes, [this, rank, number, item](Ns transfer) mutable {
    item.work.end = clock_.now();
    item.work.transferNs = transfer;
    run_.works.push_back(item.work);
    endItem(rank, number);
  });
}

void Simulation::meet(
    int rank, int group, Collective op, std::int64_t bytes, std::function<void(Ns)> then) {
  const Group& of = job_.groups[static_cast<std::size_t>(group)];
  const int ordinal = collectives_[{group, rank}]++;
  Meeting& meeting = meetings_[{group, ordinal}];
  meeting.members.push_back(std::move(then));
  if (meeting.members.size() < of.ranks.size())
    return;
  const Ns transfer = transferNs(of, op, bytes);
  clock_.at(clock_.now() + transfer, [members = std::move(meeting.members), transfer] {
    for (const auto& member : members)
      member(transfer);
  });
  meetings_.erase({group, ordinal});
}

void Simulation::send(int index, const Send& op) {
  const int rank = thread(index).rank;
  occupy(index, op.callNs, [this, rank, op](std::size_t step) {
    Ns arrival = clock_.now();
    const std::pair machines(machineOf(rank), machineOf(op.peer));
    if (machines.first != machines.second) {
      Ns& free = linkFree_[machines];
      free = std::max(free, clock_.now()) + job_.link.timeOf(op.bytes);
      arrival = free + job_.link.latencyNs;
    }
    clock_.at(arrival, [this, mail = Mail(rank, op.peer, op.tag), step] {
      auto& waiting = receivers_[mail];
      if (waiting.empty())
        return mail_[mail].push_back(step);
      const auto [receiver, since] = waiting.front();
      waiting.pop_front();
      finish(receiver, since, clock_.now(), step);
    });
  });
}

void Simulation::receive(int index, const Receive& op) {
  const Mail from(op.peer, thread(index).rank, op.tag);
  auto& arrived = mail_[from];
  if (arrived.empty())
    return receivers_[from].emplace_back(index, clock_.now()), void();
  const std::size_t step = arrived.front();
  arrived.pop_front();
  finish(index, clock_.now(), clock_.now(), step);
}

void Simulation::put(int index, const Put& op) {
  Queue& queue = queues_[static_cast<std::size_t>(op.queue)];
  const Ns now = clock_.now();
  if (!queue.takers.empty()) {
    const auto [taker, since] = queue.takers.front();
    queue.takers.pop_front();
    finish(taker, since, now, finish(index, now, now));
  } else if (static_cast<int>(queue.items.size()) <
             job_.queueLengths[static_cast<std::size_t>(op.queue)]) {
    queue.items.push_back(finish(index, now, now));
  } else {
    queue.putters.emplace_back(index, now);
  }
}

void Simulation::take(int index, const Take& op) {
  Queue& queue = queues_[static_cast<std::size_t>(op.queue)];
  const Ns now = clock_.now();
  if (queue.items.empty())
    return queue.takers.emplace_back(index, now), void();
  const std::size_t item = queue.items.front();
  queue.items.pop_front();
  const std::size_t step = finish(index, now, now, item);
  if (queue.putters.empty())
    return;
  const auto [putter, since] = queue.putters.front();
  queue.putters.pop_front();
  queue.items.push_back(finish(putter, since, now, step));
}

void Simulation::synchronise(int index, const Synchronise& op) {
  Stream& on = stream(thread(index).rank, op.stream);
  const Ns begin = clock_.now();
  auto then = [this, index, begin, op] {
    const Ns ready = clock_.now();
    clock_.at(ready + op.returnNs, [this, index, begin, ready] { finish(index, begin, ready); });
  };
  if (on.done >= on.pushed)
    then();
  else
    on.waiting.emplace_back(on.pushed, then);
}

void Simulation::proceed(int index) {
  if (next_[static_cast<std::size_t>(index)] == thread(index).program.size()) {
    ++ended_;
    return;
  }
  const int rank = thread(index).rank;
  const Op& op = opOf(index);
  const Ns now = clock_.now();
  const auto call = [&](Ns ns, int number, Item item) {
    occupy(index, ns, [this, rank, number, item](std::size_t step) mutable {
      item.work.op = run_.steps[step].op;
      item.work.launch = step;
      push(rank, number, item);
    });
  };
  std::visit(Overloaded{
                 [&](const Compute& one) { occupy(index, one.ns, [](std::size_t) {}); },
                 [&](const Sleep& one) {
                   clock_.at(now + one.ns, [this, index, now] { finish(index, now, now); });
                 },
                 [&](const Launch& one) {
                   call(one.callNs, one.stream, {.kind = Item::Kind::Kernel, .ns = one.ns});
                 },
                 [&](const LaunchCollective& one) {
                   call(one.callNs,
                        one.stream,
                        {.kind = Item::Kind::Collective,
                         .group = one.group,
                         .op = one.op,
                         .bytes = one.bytes});
                 },
                 [&](const RecordEvent& one) {
                   const int number = ++recorded_[static_cast<std::size_t>(one.event)];
                   call(one.callNs,
                        one.stream,
                        {.kind = Item::Kind::Record, .event = one.event, .number = number});
                 },
                 [&](const WaitEvent& one) {
                   const int number = recorded_[static_cast<std::size_t>(one.event)];
                   call(one.callNs,
                        one.stream,
                        {.kind = Item::Kind::Wait, .event = one.event, .number = number});
                 },
                 [&](const Synchronise& one) { synchronise(index, one); },
                 [&](const Meet& one) {
                   meet(rank, one.group, one.op, one.bytes, [this, index, now](Ns transfer) {
                     finish(index, now, clock_.now() - transfer);
                   });
                 },
                 [&](const Send& one) { send(index, one); },
                 [&](const Receive& one) { receive(index, one); },
                 [&](const Put& one) { put(index, one); },
                 [&](const Take& one) { take(index, one); },
                 [&](const Allocate&) { finish(index, now, now); },
                 [&](const Free&) { finish(index, now, now); },
                 [&](const Begin&) { finish(index, now, now); },
                 [&](const End&) { finish(index, now, now); },
             },
             op);
}

}  // namespace

History simulate(const Job& job) {
  return Simulation(job).run();
}

}  // namespace sonde::jobsim
