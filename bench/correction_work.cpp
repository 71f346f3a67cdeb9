// Jobs whose iterations do something that Sonde records: correction_work WHAT ITERATIONS. Prints
// "mean NS" of an iteration, by its own clock. bench/correction_accuracy.py runs it with and
// without Sonde and compares. `correction_work awake PROCESSOR` is what its --awake runs beside
// them.
#include "bench/iteration_stamps.h"
#include "plugins/api/sonde.h"

#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

// Some microseconds of arithmetic on the thread's own memory.
void compute(int rounds) {
  thread_local std::vector<double> data(2048, 1.0);
  for (int round = 0; round < rounds; ++round)
    for (double& value : data)
      value = value * 1.0000001 + 1e-9;
}

void annotated() {
  for (int step = 0; step < 300; ++step) {
    const sonde_scope scope = SONDE_BEGIN("step");
    compute(2);
    sonde_end(scope);
  }
}

void ranges() {
  for (int step = 0; step < 300; ++step) {
    nvtxRangePushA("step");
    compute(2);
    nvtxRangePop();
  }
}

class Files {
 public:
  Files() : file_(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)) {}
  void operator()() {
    for (int block = 0; block < 200; ++block) {
      if (pread(file_, bytes_, sizeof bytes_, (block % 8) * 4096) < 0)
        std::exit(1);
      compute(2);
    }
  }

 private:
  int file_;
  char bytes_[4096];
};

// Threads that take turns stay on one processor; otherwise the result depends on the scheduler.
void stayOn(int processor) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<std::size_t>(processor % std::max(1, get_nprocs())), &only);
  sched_setaffinity(0, sizeof only, &only);
}

// A request to a thread and its answer, over a socket.
class Stream {
 public:
  Stream() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
      std::exit(1);
    near_ = ends[0];
    stayOn(0);
    std::thread([far = ends[1]] {
      stayOn(1);
      char bytes[1024];
      while (read(far, bytes, sizeof bytes) > 0) {
        compute(1);
        if (write(far, bytes, sizeof bytes) < 0)
          return;
      }
    }).detach();
  }
  void operator()() {
    char bytes[1024] = {};
    for (int request = 0; request < 50; ++request) {
      compute(4);
      if (write(near_, bytes, sizeof bytes) < 0 || read(near_, bytes, sizeof bytes) <= 0)
        std::exit(1);
    }
  }

 private:
  int near_ = -1;
};

// Tasks for two threads; the iteration waits for them.
class Pool {
 public:
  Pool() {
    stayOn(0);
    for (int worker = 0; worker < 2; ++worker)
      std::thread([this, worker] {
        stayOn(worker);
        work();
      }).detach();
  }
  void operator()() {
    for (int batch = 0; batch < 20; ++batch) {
      {
        const std::lock_guard lock(mutex_);
        for (int task = 0; task < 6; ++task)
          tasks_.push_back(8);
        open_ = 6;
      }
      wanted_.notify_all();
      compute(4);
      std::unique_lock lock(mutex_);
      done_.wait(lock, [this] { return open_ == 0; });
    }
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wanted_.wait(lock, [this] { return !tasks_.empty(); });
      const int rounds = tasks_.front();
      tasks_.pop_front();
      lock.unlock();
      compute(rounds);
      lock.lock();
      if (--open_ == 0)
        done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wanted_;
  std::condition_variable done_;
  std::deque<int> tasks_;
  int open_ = 0;
};

void memory() {
  for (int block = 0; block < 100; ++block) {
    auto* const bytes = static_cast<char*>(std::malloc(100'000));
    for (int at = 0; at < 100'000; at += 64)
      bytes[at] = static_cast<char>(block);
    asm volatile("" : : "r"(bytes) : "memory");
    std::free(bytes);
    compute(1);
  }
}

// Keeps an idle processor from being halted as long as the parent lives.
[[noreturn]] void keepAwake(int processor) {
  const sched_param none = {};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  stayOn(processor);
  if (sched_setscheduler(0, SCHED_IDLE, &none) != 0)
    std::exit(1);
  for (;;)
    asm volatile("" : : : "memory");
}

const std::map<std::string, std::function<std::function<void()>()>> kJobs = {
    {"annotated", [] { return std::function<void()>(annotated); }},
    {"ranges", [] { return std::function<void()>(ranges); }},
    {"files", [] { return std::function<void()>(Files()); }},
    {"memory", [] { return std::function<void()>(memory); }},
    {"stream",
     [] { return std::function<void()>([job = std::make_shared<Stream>()] { (*job)(); }); }},
    {"pool", [] { return std::function<void()>([job = std::make_shared<Pool>()] { (*job)(); }); }},
};

}  // namespace

int main(int count, char** arguments) {
  if (count == 3 && std::string(arguments[1]) == "awake")
    keepAwake(std::atoi(arguments[2]));
  if (count != 3 || kJobs.count(arguments[1]) == 0) {
    std::fprintf(stderr,
                 "usage: correction_work annotated|ranges|files|memory|stream|pool|awake N\n");
    return 2;
  }
  const std::function<void()> job = kJobs.at(arguments[1])();
  const int iterations = std::atoi(arguments[2]);
  job();
  IterationStamps stamps = stampsFor(iterations);
  const sonde_scope phase = sonde_begin(SONDE_PHASE, "loop");
  for (int number = 0; number < iterations; ++number) {
    stampsBegin(&stamps);
    const sonde_scope iteration = sonde_begin(SONDE_ITERATION, "iteration");
    job();
    sonde_end(iteration);
    stampsEnd(&stamps);
  }
  sonde_end(phase);
  stampsWrite(&stamps);
  std::printf("mean %.0f\n", stampsMean(&stamps));
  std::fflush(stdout);
  _exit(0);
}
