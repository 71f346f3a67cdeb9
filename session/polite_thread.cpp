#include "session/polite_thread.h"

#include <sys/resource.h>

namespace sonde::session {
namespace {

// At 19 a thread beside eight others of a processor gets 0.2 % of it, which is less than samples of
// their stacks take.
constexpr int kNice = 10;

}  // namespace

PoliteThread::PoliteThread() : thread_([this] { loop(); }) {}

PoliteThread::~PoliteThread() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void PoliteThread::run(const std::function<void()>& work) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  changed_.notify_all();
  changed_.wait(lock, [this] { return work_ == nullptr; });
}

void PoliteThread::loop() {
  setpriority(PRIO_PROCESS, 0, kNice);  // of this thread alone
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

}  // namespace sonde::session
