// A thread that gives way to all others of the machine (nice 10), and what another one has it do. A
// thread cannot take such a step back, so that who is at times in a hurry needs two.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace sonde::recorder {

class PoliteThread {
 public:
  PoliteThread();  // where no thread can be had, run() does it on its caller's
  ~PoliteThread();
  PoliteThread(const PoliteThread&) = delete;
  PoliteThread& operator=(const PoliteThread&) = delete;

  // Does it there; returns when it is done. One caller at a time.
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
