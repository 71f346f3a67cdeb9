// Reads the state of the machine and the job's processes, ten times a second or as often as the
// user requests, on a separate thread. If a round takes long, the next one comes later, so that
// sampling stays below half a per cent of one core.
//
// The recording creates and destroys it; add() and take() from any thread.
#pragma once

#include "recorder/spool/image_id.h"
#include "recorder/system/process_source.h"
#include "recorder/system/readings.h"
#include "recorder/system/source.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace sonde::recorder::system {

class Sampler {
 public:
  // `wholeMachine`: not only the processes, because no other recorder of the job samples the rest.
  Sampler(std::chrono::nanoseconds interval, bool wholeMachine, Roots roots = {});
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // A process image that is recorded from now on.
  void add(const ImageId& image);
  // Returns the readings since the last call.
  Batch take();
  // Reads a last time, and passes on the last point of every metric. Nothing is read after that.
  void stop();
  // The processor time that sampling has used so far.
  std::chrono::nanoseconds cpuTime();

 private:
  void work();
  void sampleOnce();
  bool waitFor(std::chrono::nanoseconds time);

  std::chrono::nanoseconds interval_;
  bool wholeMachine_;
  Roots roots_;
  std::vector<std::unique_ptr<Source>> sources_;  // the thread's
  ProcessSource processes_;                       // the thread's
  Readings readings_;                             // the thread's
  std::mutex mutex_;
  std::condition_variable wake_;
  bool isStopping_ = false;              // guarded by mutex_
  std::vector<ImageId> fresh_;           // guarded by mutex_
  Batch batch_;                          // guarded by mutex_
  std::chrono::nanoseconds cpuTime_{0};  // guarded by mutex_
  std::thread thread_;
};

}  // namespace sonde::recorder::system
