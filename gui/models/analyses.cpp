#include "gui/models/analyses.h"

#include "analysis/store/trace_file.h"

#include <QThread>

#include <algorithm>
#include <mutex>

namespace sonde::gui {

// A query may wait for one that computes the same value (ComputedOnce), while a third one runs.
constexpr int kLeastThreads = 3;

// One query: interrupts its connection from another thread.
class Analyses::Running {
 public:
  void interrupt() {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    if (trace_ != nullptr)
      trace_->interrupt();
  }
  [[nodiscard]] bool interrupted() {
    const std::lock_guard lock(mutex_);
    return interrupted_;
  }
  // Returns no reply if it is interrupted first.
  Reply run(const QString& file, const Job& job) {
    auto opened = store::openTrace(file.toStdString());
    if (!opened)
      return interrupted() ? Reply() : job(opened.error());
    const auto trace = std::make_shared<store::Database>(*std::move(opened));
    if (!use(trace.get()))
      return {};
    Reply reply = job(Trace(trace));
    use(nullptr);
    return reply;
  }

 private:
  bool use(store::Database* trace) {
    const std::lock_guard lock(mutex_);
    trace_ = trace;
    return !interrupted_;
  }

  std::mutex mutex_;
  bool interrupted_ = false;
  store::Database* trace_ = nullptr;
};

Analyses::Analyses(TraceDocument& document) : document_(document) {
  pool_.setMaxThreadCount(std::max(kLeastThreads, QThread::idealThreadCount()));
  connect(&document, &TraceDocument::replaced, this, &Analyses::cancelAll);
}

Analyses::~Analyses() {
  cancelAll();
  pool_.waitForDone();
}

void Analyses::post(QObject& asker, Job job) {
  cancel(asker);
  const auto running = std::make_shared<Running>();
  newest_.insert(&asker, running);
  if (!askers_.contains(&asker)) {
    askers_.insert(&asker);
    connect(&asker, &QObject::destroyed, this, [this, key = &asker] {
      cancel(*key);
      askers_.remove(key);
    });
  }
  ++outstanding_;
  pool_.start(
      [this, running, job = std::move(job), file = document_.skeleton().file, key = &asker] {
        const Reply reply = running->run(file, job);
        QMetaObject::invokeMethod(
            this,
            [this, key, running, reply] { deliver(key, running, reply); },
            Qt::QueuedConnection);
      });
}

void Analyses::deliver(const QObject* asker,
                       const std::shared_ptr<Running>& running,
                       const Reply& reply) {
  if (newest_.value(asker) == running)
    newest_.remove(asker);
  if (reply && !running->interrupted())
    reply();
  if (--outstanding_ == 0)
    emit settledDown();
}

void Analyses::cancel(const QObject& asker) {
  if (const auto running = newest_.take(&asker))
    running->interrupt();
}

void Analyses::cancelAll() {
  for (const auto& running : std::as_const(newest_))
    running->interrupt();
  newest_.clear();
}

}  // namespace sonde::gui
