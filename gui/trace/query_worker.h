// The only thread that reads the window's database, so that painting never waits for a query.
//
// Each Slot holds at most one job: a newer one replaces the waiting one and cancels the running
// one. A job runs on the worker's thread with the reader. Its Reply runs later on the thread that
// owns the QueryWorker, unless the job was cancelled. All members except Cancellation are for the
// owner's thread.
#pragma once

#include "base/result.h"

#include <QObject>

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace sonde::gui {

class TraceReader;

// A running job checks it every few hundred rows, and returns at once if it is set.
class Cancellation {
 public:
  void request() { requested_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool requested() const { return requested_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> requested_{false};
};

// The error of a cancelled query.
inline Error cancelled() {
  return Error{ErrorCode::Io, "cancelled"};
}

class QueryWorker : public QObject {
  Q_OBJECT

 public:
  // In the order in which waiting jobs run.
  enum class Slot { Open, Details, Scope, Window, Overview, Step, Search, Span, Count };
  using Reply = std::function<void()>;
  using Job = std::function<Reply(TraceReader&, const Cancellation&)>;

  explicit QueryWorker(QObject* parent = nullptr);
  // Cancels everything and waits for the running job.
  ~QueryWorker() override;
  QueryWorker(const QueryWorker&) = delete;
  QueryWorker& operator=(const QueryWorker&) = delete;

  void post(Slot slot, Job job);
  void cancel(Slot slot);
  void cancelAll();
  // No job waits, runs, or has an undelivered reply.
  [[nodiscard]] bool idle() const { return outstanding_ == 0; }

 signals:
  void becameIdle();

 private:
  struct Task {
    Job job;
    std::shared_ptr<Cancellation> cancellation;
  };
  static constexpr auto kSlots = static_cast<std::size_t>(Slot::Count);

  void run();
  // Waits for the next task; false if the worker must end.
  bool take(Task& task);
  void deliver(const Reply& reply, const std::shared_ptr<Cancellation>& cancellation);
  void settle(int tasks);

  std::mutex mutex_;  // guards waiting_ and ending_
  std::condition_variable wake_;
  std::array<Task, kSlots> waiting_;
  bool ending_ = false;
  std::array<std::shared_ptr<Cancellation>, kSlots> newest_;  // the owner's
  int outstanding_ = 0;                                       // the owner's
  std::thread thread_;
};

}  // namespace sonde::gui
