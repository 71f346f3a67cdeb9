// One rank of a job that calls every collective of libgloo with known amounts: RANK SIZE FOLDER. A
// store in FOLDER connects the ranks over loopback. Prints the result if a peer does not take part.
#include "plugins/api/sonde.h"

#include <gloo/allgather.h>
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/scatter.h>
#include <gloo/transport/tcp/device.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace {

using Group = std::shared_ptr<gloo::rendezvous::Context>;

struct Job {
  int rank;
  int size;
  std::string folder;
  std::shared_ptr<gloo::transport::Device> device;
};

Group connect(Job& job, const std::string& name, const char* hint) {
  std::vector<int32_t> ranks(static_cast<std::size_t>(job.size));
  std::iota(ranks.begin(), ranks.end(), 0);
  const sonde_api_table* sonde = sonde_table();
  if (hint != nullptr && sonde != nullptr)
    sonde->communicator_hint(hint, ranks.data(), job.size);
  auto context = std::make_shared<gloo::rendezvous::Context>(job.rank, job.size);
  gloo::rendezvous::FileStore files(job.folder);
  gloo::rendezvous::PrefixStore store(name, files);
  context->connectFullMesh(store, job.device);
  if (hint != nullptr && sonde != nullptr)
    sonde->communicator_hint(nullptr, nullptr, 0);
  return context;
}

void allreduce(const Group& group, std::size_t elements, uint32_t tag, bool bcube = false) {
  std::vector<float> data(elements, 1);
  gloo::AllreduceOptions options(group);
  options.setOutput(data.data(), data.size());
  options.setReduceFunction(
      static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<float>));
  options.setTag(tag);
  if (bcube)
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::BCUBE);
  gloo::allreduce(options);
  if (data.back() != static_cast<float>(group->size))
    std::printf("wrong sum\n");
}

void allgathers(const Group& group) {
  const auto size = static_cast<std::size_t>(group->size);
  std::vector<int32_t> in(10, group->rank), out(10 * size);
  gloo::AllgatherOptions options(group);
  options.setInput(in.data(), in.size());
  options.setOutput(out.data(), out.size());
  options.setTag(3);
  gloo::allgather(options);
  std::vector<size_t> counts(size);
  std::iota(counts.begin(), counts.end(), 1);  // rank r contributes r + 1
  std::vector<int64_t> mine(static_cast<std::size_t>(group->rank) + 1);
  std::vector<int64_t> all(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  gloo::AllgathervOptions unequal(group);
  unequal.setInput(mine.data(), mine.size());
  unequal.setOutput(all.data(), counts);
  unequal.setTag(4);
  gloo::allgatherv(unequal);
}

void alltoalls(const Group& group) {
  const auto size = static_cast<std::size_t>(group->size);
  std::vector<double> in(4 * size), out(4 * size);
  gloo::AlltoallOptions options(group);
  options.setInput(in.data(), in.size());
  options.setOutput(out.data(), out.size());
  options.setTag(5);
  gloo::alltoall(options);
  // Every rank sends r + 1 elements to rank r.
  std::vector<int64_t> send(size);
  std::iota(send.begin(), send.end(), 1);
  std::vector<int64_t> receive(size, group->rank + 1);
  std::vector<float> from(
      static_cast<std::size_t>(std::accumulate(send.begin(), send.end(), int64_t{0})));
  std::vector<float> to(size * (static_cast<std::size_t>(group->rank) + 1));
  gloo::AlltoallvOptions unequal(group);
  unequal.setInput(from.data(), send);
  unequal.setOutput(to.data(), receive);
  unequal.setTag(6);
  gloo::alltoallv(unequal);
}

void rooted(const Group& group) {
  const auto size = static_cast<std::size_t>(group->size);
  std::vector<float> one(100), many(100 * size);
  gloo::BroadcastOptions broadcast(group);
  broadcast.setOutput(one.data(), one.size());
  broadcast.setRoot(1);
  broadcast.setTag(7);
  gloo::broadcast(broadcast);
  gloo::GatherOptions gather(group);
  gather.setInput(one.data(), one.size());
  if (group->rank == 0)
    gather.setOutput(many.data(), many.size());
  gather.setRoot(0);
  gather.setTag(8);
  gloo::gather(gather);
  std::vector<float> sum(100);
  gloo::ReduceOptions reduce(group);
  reduce.setInput(one.data(), one.size());
  reduce.setOutput(sum.data(), sum.size());
  reduce.setReduceFunction(
      static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<float>));
  reduce.setRoot(1);
  reduce.setTag(9);
  gloo::reduce(reduce);
  gloo::ScatterOptions scatter(group);
  if (group->rank == 0) {
    std::vector<float*> parts;
    for (std::size_t at = 0; at < size; ++at)
      parts.push_back(many.data() + 100 * at);
    scatter.setInputs(parts, 100);
  }
  scatter.setOutput(one.data(), one.size());
  scatter.setRoot(0);
  scatter.setTag(10);
  gloo::scatter(scatter);
}

void barrier(const Group& group, uint32_t tag) {
  gloo::BarrierOptions options(group);
  options.setTag(tag);
  gloo::barrier(options);
}

// Rank 0 waits for the others, who do not come.
void lonely(const Group& group) {
  if (group->rank != 0)
    return;
  std::vector<float> data(8);
  gloo::AllreduceOptions options(group);
  options.setOutput(data.data(), data.size());
  options.setReduceFunction(
      static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<float>));
  options.setTimeout(std::chrono::milliseconds(200));
  options.setTag(50);
  try {
    gloo::allreduce(options);
    std::printf("nothing thrown\n");
  } catch (const gloo::IoException&) {  // a timeout, or that the others have gone
    std::printf("caught\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4)
    return 2;
  Job job{std::atoi(argv[1]), std::atoi(argv[2]), argv[3], nullptr};
  gloo::transport::tcp::attr address;
  address.hostname = "127.0.0.1";
  job.device = gloo::transport::tcp::CreateDevice(address);
  Group world = connect(job, "world", nullptr);
  allreduce(world, 1000, 1);
  allreduce(world, 64, 2, true);
  allgathers(world);
  alltoalls(world);
  rooted(world);
  barrier(world, 11);
  // A program that never sets a tag.
  for (int i = 0; i < 3; ++i)
    allreduce(world, 16, 0);
  for (int round = 0; round < 3; ++round) {
    const Group passing = connect(job, "passing" + std::to_string(round), "the group");
    allreduce(passing, 32, 0);
    barrier(passing, 1);
  }
  lonely(world);
  return 0;
}
