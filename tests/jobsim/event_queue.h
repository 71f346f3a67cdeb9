// Simulated time: calls functions in the order of their times. One thread.
#pragma once

#include "tests/jobsim/job.h"

#include <queue>

#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

namespace sonde::jobsim {

// Functions of the same time are called in the order in which they were added.
class EventQueue {
 public:
  void at(Ns ns, std::function<void()> what) { due_.push({ns, count_++, std::move(what)}); }
  Ns now() const noexcept { return now_; }

  // False: nothing is left to happen.
  bool next() {
    if (due_.empty())
      return false;
    now_ = due_.top().ns;
    const std::function<void()> what = due_.top().what;
    due_.pop();
    what();
    return true;
  }
  bool isMoreDueNow() const { return !due_.empty() && due_.top().ns == now_; }

 private:
  struct Due {
    Ns ns;
    std::uint64_t order;
    std::function<void()> what;
    bool operator<(const Due& other) const {
      return std::tie(other.ns, other.order) < std::tie(ns, order);
    }
  };
  std::priority_queue<Due> due_;
  std::uint64_t count_ = 0;
  Ns now_ = 0;
};

}  // namespace sonde::jobsim
