// Creates a group of one while the spool is full, reduces once, and again when there is room.
#include "tests/targets/host/full_spool.h"

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>

#include <memory>
#include <vector>

namespace {

void reduce(const std::shared_ptr<gloo::Context>& group) {
  std::vector<float> data(8, 1);
  gloo::AllreduceOptions options(group);
  options.setOutput(data.data(), data.size());
  options.setReduceFunction(
      static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<float>));
  gloo::allreduce(options);
}

}  // namespace

int main() {
  if (fill_spool() != 0)
    return 1;
  gloo::transport::tcp::attr address;
  address.hostname = "127.0.0.1";
  auto device = gloo::transport::tcp::CreateDevice(address);
  gloo::rendezvous::HashStore store;
  const auto group = std::make_shared<gloo::rendezvous::Context>(0, 1);
  group->connectFullMesh(store, device);
  reduce(group);
  if (lift_limit() != 0)
    return 1;
  reduce(group);
  reduce(group);
  return 0;
}
