// Runs what the user wants done with a finding, one after the other on a thread of its own.
// Whatever it does delays nobody else: add() never waits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace sonde::recorder {

class ReactionQueue {
 public:
  // Gets a finding as JSON. It should give up soon when `mayContinue` returns false. It returns the
  // reason of a failure; empty: none.
  using React = std::function<std::string(const std::string& finding,
                                          const std::function<bool()>& mayContinue)>;

  static constexpr std::size_t kMostWaiting = 100;

  // `say` is called on the thread.
  ReactionQueue(std::string what, React react, std::function<void(const std::string&)> say);
  // Waits some seconds for those that are under way; says how many were dropped.
  ~ReactionQueue();
  ReactionQueue(const ReactionQueue&) = delete;
  ReactionQueue& operator=(const ReactionQueue&) = delete;

  void add(std::string finding);
  // Gives those under way some seconds from now on, and drops the rest.
  void endSoon();

 private:
  void work();

  std::string what_;
  React react_;
  std::function<void(const std::string&)> say_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::string> waiting_;  // guarded by mutex_
  std::size_t dropped_ = 0;          // guarded by mutex_
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
  std::thread thread_;
};

// Calls its argument, which starts a process and returns its pid, or a negative errno; returns the
// same. So others can know of the process before it runs.
using Starter = std::function<int(const std::function<int()>& start)>;

// `sh -c COMMAND` with the finding on its standard input. It is killed after a minute.
ReactionQueue::React runCommand(const std::string& command, Starter starter);

}  // namespace sonde::recorder
