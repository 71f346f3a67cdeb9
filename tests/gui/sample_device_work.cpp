#include "tests/gui/sample_trace.h"

namespace sonde::gui::testing {
namespace {

constexpr std::int64_t kUs = 1'000;
using test::kMs;
constexpr const char* kElementwise =
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int, float)";

class Launcher {
 public:
  explicit Launcher(SampleTrace& trace)
      : trace_(trace),
        process_(trace.addProcess(4200, 3, "python3 train.py")),
        thread_(trace.addThread(process_, 4200, "python3")),
        device_(trace.addDevice(3, "NVIDIA A100-SXM4-80GB")) {
    scope_ = trace.addSlice({thread_, model::SliceKind::Forward, "forward", 1'100 * kMs, 40 * kMs});
  }

  [[nodiscard]] model::SliceId scope() const { return scope_; }
  model::StreamId stream(std::int64_t number) {
    return trace_.addStream(process_, device_, number);
  }
  model::SliceId call(const char* name, std::int64_t startNs, std::int64_t durNs) {
    SampleTrace::SliceSpec spec{
        thread_, model::SliceKind::Api, name, startNs, durNs, 1, scope_, 0, scope_};
    spec.correlation = ++correlation_;
    return launch_ = trace_.addSlice(spec);
  }
  // Work launched by the last call.
  SampleTrace::WorkSpec work(model::StreamId stream,
                             const char* name,
                             std::int64_t startNs,
                             std::int64_t durNs) {
    return {stream, name, startNs, durNs, launch_, correlation_, scope_};
  }

 private:
  SampleTrace& trace_;
  model::ProcessId process_;
  model::ThreadId thread_;
  model::DeviceId device_;
  model::SliceId scope_;
  model::SliceId launch_;
  std::int64_t correlation_ = 100;
};

}  // namespace

DeviceWork writeDeviceWork(const std::filesystem::path& path, int nodes) {
  SampleTrace trace(path);
  test::must(trace.writer().add(model::Meta{"origin_ns", "1000000000"}));
  Launcher rank(trace);
  const auto other = rank.stream(22);
  const auto main = rank.stream(7);
  const auto collectives = rank.stream(84);
  DeviceWork ids{};
  ids.forward = rank.scope();
  ids.copyCall = rank.call("cudaMemcpyAsync", 1'101 * kMs, 20 * kUs);
  ids.copy = trace.addCopy(
      rank.work(main, "Memcpy HtoD (Pinned -> Device)", 1'101 * kMs + 100 * kUs, 100 * kUs),
      model::CopyKind::HostToDevice,
      1 << 20);
  ids.kernelCall = rank.call("cudaLaunchKernel", 1'102 * kMs, 10 * kUs);
  ids.kernel = trace.addKernel(rank.work(main, kElementwise, 1'103 * kMs, 4 * kMs));
  rank.call("cudaLaunchKernel", 1'104 * kMs, 10 * kUs);
  trace.addKernel(rank.work(
      collectives, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclComm*)", 1'105 * kMs, 9 * kMs));
  rank.call("cudaMemsetAsync", 1'106 * kMs, 10 * kUs);
  trace.addCopy(
      rank.work(other, "Memset (Device)", 1'107 * kMs, 50 * kUs), model::CopyKind::Set, 4096);
  ids.graphCall = rank.call("cudaGraphLaunch", 1'108 * kMs, 50 * kUs);
  for (int node = 0; node < nodes; ++node) {
    const auto kernel =
        trace.addKernel(rank.work(main, "gemm_kernel", 1'110 * kMs + node * 20 * kUs, 20 * kUs));
    ids.firstNode = node == 0 ? kernel : ids.firstNode;
  }
  ids.waitCall = rank.call("cudaStreamSynchronize", 1'120 * kMs, 8 * kMs);
  ids.wait = trace.addSync(rank.work(main, "", 1'120 * kMs, 8 * kMs), model::SyncKind::Stream);
  trace.finish();
  return ids;
}

}  // namespace sonde::gui::testing
