#include "recorder/run/polite_thread.h"

#include <sys/resource.h>

#include <system_error>

namespace sonde::recorder {
namespace {

// At nice 19, a thread that shares a processor with eight others gets 0.2 % of it, less than
// processing its stack samples takes.
constexpr int kNice = 10;

}  // namespace

PoliteThread::PoliteThread() {
  try {
    thread_ = std::thread([this] { loop(); });
  } catch (const std::system_error&) {  // a limit of processes, as in containers
  }
}

PoliteThread::~PoliteThread() {
  if (!thread_.joinable())
    return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void PoliteThread::run(const std::function<void()>& work) {
  if (!thread_.joinable()) {
    work();
    return;
  }
  std::unique_lock lock(mutex_);
  work_ = &work;
  changed_.notify_all();
  changed_.wait(lock, [this] { return work_ == nullptr; });
}

void PoliteThread::loop() {
  setpriority(PRIO_PROCESS, 0, kNice);  // for this thread only
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ends_ || work_ != nullptr; });
    if (ends_)
      return;
    lock.unlock();
    (*work_)();
    lock.lock();
    work_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace sonde::recorder
