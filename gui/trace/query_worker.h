// The one thread on which the window's database is read, so that painting never waits for a query.
//
// Each Slot holds at most one job: a newer one replaces what waits there and cancels what runs
// there. A job runs on the worker's thread with the reader; the Reply that it returns runs later on
// the thread that owns the QueryWorker, unless the job was cancelled meanwhile. All members but
// Cancellation are for the owner's thread.
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

// Asked by a running job every few hundred rows; a job that sees it set returns at once.
class Cancellation {
 public:
  void request() { requested_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool requested() const { return requested_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> requested_{false};
};

// Of a query that was given up.
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
  // Cancels everything and waits for the job that runs.
  ~QueryWorker() override;
  QueryWorker(const QueryWorker&) = delete;
  QueryWorker& operator=(const QueryWorker&) = delete;

  void post(Slot slot, Job job);
  void cancel(Slot slot);
  void cancelAll();
  // Nothing waits, runs, or is finished but not delivered.
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
  // The next task, or none when the worker is to end. Waits.
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
