// A thread that yields to all others of the machine (nice 10) and runs work for another thread. A
// thread cannot undo its nice value, so work that is sometimes urgent needs two threads.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace sonde::recorder {

class PoliteThread {
 public:
  PoliteThread();  // if no thread can be created, run() works on its caller's
  ~PoliteThread();
  PoliteThread(const PoliteThread&) = delete;
  PoliteThread& operator=(const PoliteThread&) = delete;

  // Runs `work` there; returns when it is done. One caller at a time.
  void run(const std::function<void()>& work);

 private:
  void loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace sonde::recorder
