// make_trace OUT [slices [kernels [processes]]]: makes a trace to view and to measure with. Without
// numbers it is the tests' two-rank training run. With numbers it has about that many slices in 8
// processes of 8 threads, or in so many processes of one, and that many kernels on two streams of
// each; every tenth kernel overlaps the next.
#include "tests/gui/sample_trace.h"

#include <cstdlib>
#include <string>
#include <vector>

namespace {

using sonde::gui::testing::SampleTrace;
using sonde::model::SliceKind;

void writeKernels(SampleTrace& trace,
                  sonde::model::ProcessId process,
                  sonde::model::DeviceId device,
                  std::int64_t kernels) {
  for (const int number : {7, 84}) {
    const auto stream = trace.addStream(process, device, number);
    std::int64_t at = 1'000'000'000;
    for (std::int64_t kernel = 0; kernel < kernels / 2; ++kernel) {
      const std::string name = number == 84 ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclComm*)"
                                            : "gemm_kernel_" + std::to_string(kernel % 50);
      const std::int64_t length = 2'000 + kernel * 7919 % 20'000;
      trace.addKernel({stream, name, at, length});
      at += kernel % 10 == 0 ? length - 500 : length + kernel * 104'729 % 3'000;
    }
  }
}

struct Size {
  std::int64_t slices = 0;
  std::int64_t kernels = 0;
  int processes = 8;
  int threads = 8;  // of each
};

void writeLarge(const char* path, const Size& size) {
  SampleTrace trace(path);
  const std::int64_t calls = size.slices / (size.processes * size.threads) / 3;
  std::vector<std::string> names;
  for (int name = 0; name < 200; ++name)
    names.push_back("aten::operator_" + std::to_string(name));
  for (int process = 0; process < size.processes; ++process) {
    const auto id = trace.addProcess(1000 + process * 100, process, "python3 train.py");
    if (size.kernels > 0)
      writeKernels(
          trace, id, trace.addDevice(process, "NVIDIA H100"), size.kernels / size.processes);
    for (int thread = 0; thread < size.threads; ++thread) {
      const auto tid =
          trace.addThread(id, 1000 + process * 100 + thread, thread == 0 ? "python3" : "worker");
      std::int64_t at = 1'000'000'000 + process * 1000;
      std::uint64_t state = static_cast<std::uint64_t>(process * size.threads + thread + 1);
      for (std::int64_t call = 0; call < calls; ++call) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const auto length = static_cast<std::int64_t>(2'000 + (state >> 33) % 40'000);
        const auto& name = names[(state >> 20) % names.size()];
        const auto outer = trace.addSlice({tid, SliceKind::Module, name, at, length});
        const auto inner =
            trace.addSlice({tid, SliceKind::Operator, name, at + 100, length - 500, 1, outer});
        trace.addSlice({tid, SliceKind::Api, "launch", at + 200, length / 3, 2, inner});
        at += length + static_cast<std::int64_t>((state >> 40) % 9'000);
      }
    }
  }
  trace.finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2)
    return 2;
  if (argc > 2)
    writeLarge(argv[1],
               {std::atoll(argv[2]),
                argc > 3 ? std::atoll(argv[3]) : 0,
                argc > 4 ? std::atoi(argv[4]) : 8,
                argc > 4 ? 1 : 8});
  else
    sonde::gui::testing::writeTraining(argv[1]);
  return 0;
}
