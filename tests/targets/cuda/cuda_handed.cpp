// A thread that waits for work launches a kernel for whoever passes it some, inside an operation
// `step`. Then it launches one for itself, after another wait that no scope's thread has ended
// (cuda_test.py).
#include "plugins/api/sonde.h"
#include "tests/cudasim/cudasim.h"

#include <cuda_runtime_api.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace {

constexpr long kKernelNs = 20'000;

class Work {
 public:
  // Waits until there is more work.
  void await() {
    std::unique_lock lock(mutex_);
    more_.wait(lock, [&] { return given_ > done_; });
  }
  void finish() {
    const std::lock_guard lock(mutex_);
    ++done_;
    less_.notify_one();
  }
  void giveAndWait() {
    std::unique_lock lock(mutex_);
    ++given_;
    more_.notify_one();
    less_.wait(lock, [&] { return done_ == given_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable more_, less_;
  int given_ = 0;
  int done_ = 0;
};

void launch(const char* name) {
  cudaLaunchKernel(
      cudasimKernel(name, kKernelNs), dim3{1, 1, 1}, dim3{1, 1, 1}, nullptr, 0, nullptr);
}

}  // namespace

int main() {
  Work work;
  std::thread worker([&] {
    for (const char* name : {"handed", "unscoped"}) {
      work.await();
      launch(name);
      work.finish();
    }
  });
  // By then the worker must be asleep.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const sonde_scope step = sonde_begin(SONDE_OPERATION, "step");
  work.giveAndWait();
  sonde_end(step);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  work.giveAndWait();
  worker.join();
  cudaDeviceSynchronize();
}
