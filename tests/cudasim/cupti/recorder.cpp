#include "tests/cudasim/cupti/recorder.h"

#include "tests/cudasim/core/clock.h"
#include "tests/cudasim/core/device.h"
#include "tests/cudasim/core/tracer.h"
#include "tests/cudasim/core/truth.h"
#include "tests/cudasim/cupti/records.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

namespace cudasim::recorder {
namespace {

constexpr size_t kQueueWakesWorker = 4096;
constexpr auto kIdle = std::chrono::seconds(1);

struct Buffer {
  uint8_t* data = nullptr;
  size_t size = 0;
  size_t used = 0;
  size_t limit = 0;                // records; 0: none
  std::vector<Activity> contents;  // for the truth about losses
};

struct State {
  std::mutex mutex;
  std::mutex delivering;  // held while buffers are delivered, so that a flush waits for the worker
  std::condition_variable wake;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::deque<Activity> queued;
  Buffer current;
  Buffer calls;  // records of host calls, if these have a separate buffer
  std::deque<Buffer> full;
  uint32_t periodMs = 0;
  bool worker = false;
  uint64_t appended = 0;
  std::atomic<size_t> dropped{0};
};

State& state() {
  static auto* instance = new State;  // used until the process has ended
  return *instance;
}

thread_local bool gInClient = false;

uint64_t dropEvery() {
  static const uint64_t every = [] {
    const char* text = std::getenv("CUDASIM_DROP_EVERY");
    return text ? std::strtoull(text, nullptr, 10) : 0;
  }();
  return every;
}

bool callsAreApart() {
  static const bool apart = std::getenv("CUDASIM_CALLS_LAST") != nullptr;
  return apart;
}

// Requires: the lock.
Buffer& bufferOf(State& s, const Activity& activity) {
  const bool isCall =
      activity.kind == CUPTI_ACTIVITY_KIND_RUNTIME || activity.kind == CUPTI_ACTIVITY_KIND_DRIVER;
  return isCall && callsAreApart() ? s.calls : s.current;
}

void refuse(const char* why, const Activity& activity) {
  ++state().dropped;
  writeLoss(why, activity);
}

// Requires: the lock. The buffer has room for `bytes`.
bool haveRoom(State& s, Buffer& b, size_t bytes) {
  if (b.data && (b.used + bytes > b.size || (b.limit && b.contents.size() >= b.limit))) {
    s.full.push_back(std::move(b));
    b = Buffer{};
    s.wake.notify_one();
  }
  if (!b.data && s.request) {
    gInClient = true;
    s.request(&b.data, &b.size, &b.limit);
    gInClient = false;
    if (b.data && b.size < bytes) {
      b.data = nullptr;  // too small; it remains the client's
    }
    if (b.data) {
      std::memset(b.data, 0, b.size);
    }
  }
  return b.data != nullptr;
}

// Requires: the lock.
void put(State& s, const Activity& activity) {
  alignas(8) uint8_t record[kLargestRecord] = {};
  const size_t size = encode(activity, record);
  Buffer& buffer = bufferOf(s, activity);
  if (dropEvery() && ++s.appended % dropEvery() == 0) {
    refuse("dropped", activity);
  } else if (!haveRoom(s, buffer, size)) {
    refuse("refused", activity);
  } else {
    std::memcpy(buffer.data + buffer.used, record, size);
    buffer.used += size;
    buffer.contents.push_back(activity);
  }
}

// Requires: the lock.
void putQueued(State& s) {
  for (; !s.queued.empty(); s.queued.pop_front()) {
    put(s, s.queued.front());
  }
}

std::deque<Buffer> take(bool all) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  putQueued(s);
  for (Buffer* buffer : {&s.current, &s.calls}) {
    if (all && buffer->used) {
      s.full.push_back(std::exchange(*buffer, Buffer{}));
    }
  }
  return std::exchange(s.full, {});
}

void emitOverhead(uint64_t begin) {
  Activity activity;
  activity.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  activity.thread = static_cast<uint32_t>(gettid());
  happenedOnHost(nullptr, activity, begin, nowNs());
}

void work() {
  State& s = state();
  for (;;) {
    {
      std::unique_lock lock(s.mutex);
      const auto period = s.periodMs ? std::chrono::milliseconds(s.periodMs) : kIdle;
      s.wake.wait_for(lock, period);
      if (!s.request || (!s.periodMs && s.full.empty() && s.queued.size() < kQueueWakesWorker)) {
        continue;
      }
    }
    retire();
    deliver(false);
  }
}

// Requires: the lock. CUPTI's thread blocks the program's signals.
void startWorker(State& s) {
  if (s.worker) {
    return;
  }
  s.worker = true;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(work).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void registerClient(CUpti_BuffersCallbackRequestFunc request,
                    CUpti_BuffersCallbackCompleteFunc complete) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.request = request;
  s.complete = complete;
  startWorker(s);
}

bool hasClient() {
  const std::lock_guard lock(state().mutex);
  return state().request != nullptr;
}

bool inClient() {
  return gInClient;
}

void append(const Activity& activity) {
  const std::lock_guard lock(state().mutex);
  put(state(), activity);
}

void queue(const std::vector<Activity>& activities) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.queued.insert(s.queued.end(), activities.begin(), activities.end());
  if (s.queued.size() >= kQueueWakesWorker) {
    s.wake.notify_one();
  }
}

void forgetContext(uint32_t context) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  std::erase_if(s.queued, [&](const Activity& activity) {
    if (activity.context == context) {
      writeLoss("lost-at-reset", activity);
    }
    return activity.context == context;
  });
}

void forgetAll(const char* why) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (const Activity& activity : s.queued) {
    writeLoss(why, activity);
  }
  s.full.push_back(std::exchange(s.current, Buffer{}));
  s.full.push_back(std::exchange(s.calls, Buffer{}));
  for (const Buffer& buffer : s.full) {
    for (const Activity& activity : buffer.contents) {
      writeLoss(why, activity);
    }
  }
  s.queued.clear();
  s.full.clear();
  s.request = nullptr;
  s.complete = nullptr;
  s.periodMs = 0;
}

void deliver(bool all) {
  State& s = state();
  const std::lock_guard delivering(s.delivering);
  const uint64_t begin = nowNs();
  const std::deque<Buffer> buffers = take(all);
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  {
    const std::lock_guard lock(s.mutex);
    complete = s.complete;
  }
  for (const Buffer& buffer : buffers) {
    gInClient = true;
    complete(nullptr, 0, buffer.data, buffer.size, buffer.used);
    gInClient = false;
  }
  if (!buffers.empty()) {
    emitOverhead(begin);
  }
  flushTruth();
}

void setPeriodMs(uint32_t ms) {
  const std::lock_guard lock(state().mutex);
  state().periodMs = ms;
  state().wake.notify_one();
}

size_t takeDropped() {
  return state().dropped.exchange(0);
}

}  // namespace cudasim::recorder
