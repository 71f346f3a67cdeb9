// Records the number of files that the process has open, every 20 ms, on a separate thread.
//
//   c++ -std=c++17 -shared -fPIC -O2 -o libopen_files.so open_files.cpp -pthread
//   sonde run --plugin ./libopen_files.so -- python3 train.py
#include <sonde/sonde_plugin.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

namespace {

struct Sampler {
  const sonde_plugin_host* host;
  uint32_t counter;
  std::mutex mutex;
  std::condition_variable stopped;
  bool isStopping = false;
  std::thread thread;

  void run() {
    std::unique_lock<std::mutex> lock(mutex);
    do {
      std::error_code failure;
      double files = -1;  // the listing's own descriptor does not count
      for (auto at = std::filesystem::directory_iterator("/proc/self/fd", failure);
           !failure && at != std::filesystem::directory_iterator();
           at.increment(failure))
        ++files;
      host->value(host, counter, files);
    } while (!stopped.wait_for(lock, std::chrono::milliseconds(20), [this] { return isStopping; }));
  }
};

Sampler* sampler = nullptr;

int start(const sonde_plugin_host* host) {
  sampler = new Sampler{host, host->counter(host, "open files", ""), {}, {}, false, {}};
  // The program's signals must go to its own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  sampler->thread = std::thread([] { sampler->run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return 0;
}

void stop() {
  if (sampler == nullptr)
    return;
  {
    const std::lock_guard<std::mutex> lock(sampler->mutex);
    sampler->isStopping = true;
  }
  sampler->stopped.notify_all();
  sampler->thread.join();
  delete sampler;
}

// The thread, with everything it holds, exists only in the parent.
void forked() {
  sampler = nullptr;
}

}  // namespace

const sonde_plugin sonde_plugin_descriptor = {SONDE_PLUGIN_HEAD,
                                              "open-files",
                                              "",
                                              "1.0",
                                              "how many files the process has open",
                                              start,
                                              stop,
                                              forked};
