#include "gui/trace/query_worker.h"

#include "gui/trace/trace_reader.h"

#include <algorithm>
#include <utility>

namespace sonde::gui {

QueryWorker::QueryWorker(QObject* parent) : QObject(parent), thread_([this] { run(); }) {}

QueryWorker::~QueryWorker() {
  cancelAll();
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void QueryWorker::post(Slot slot, Job job) {
  cancel(slot);
  const auto at = static_cast<std::size_t>(slot);
  newest_.at(at) = std::make_shared<Cancellation>();
  ++outstanding_;
  {
    const std::lock_guard lock(mutex_);
    waiting_.at(at) = {std::move(job), newest_.at(at)};
  }
  wake_.notify_one();
}

void QueryWorker::cancel(Slot slot) {
  const auto at = static_cast<std::size_t>(slot);
  if (newest_.at(at))
    newest_.at(at)->request();
  bool waited = false;
  {
    const std::lock_guard lock(mutex_);
    waited = static_cast<bool>(waiting_.at(at).job);
    waiting_.at(at) = {};
  }
  if (waited)
    settle(1);
}

void QueryWorker::cancelAll() {
  for (std::size_t slot = 0; slot < kSlots; ++slot)
    cancel(static_cast<Slot>(slot));
}

bool QueryWorker::take(Task& task) {
  std::unique_lock lock(mutex_);
  const auto next = [this] {
    return std::find_if(waiting_.begin(), waiting_.end(), [](const Task& each) {
      return static_cast<bool>(each.job);
    });
  };
  wake_.wait(lock, [&] { return ending_ || next() != waiting_.end(); });
  if (ending_)
    return false;
  task = std::exchange(*next(), {});
  return true;
}

void QueryWorker::run() {
  TraceReader reader;
  Task task;
  while (take(task)) {
    Reply reply;
    if (!task.cancellation->requested())
      reply = task.job(reader, *task.cancellation);
    deliver(reply, task.cancellation);
    task = {};
  }
}

void QueryWorker::deliver(const Reply& reply, const std::shared_ptr<Cancellation>& cancellation) {
  QMetaObject::invokeMethod(
      this,
      [this, reply, cancellation] {
        if (reply && !cancellation->requested())
          reply();
        settle(1);
      },
      Qt::QueuedConnection);
}

void QueryWorker::settle(int tasks) {
  outstanding_ -= tasks;
  if (outstanding_ == 0)
    emit becameIdle();
}

}  // namespace sonde::gui
