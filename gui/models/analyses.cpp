#include "gui/models/analyses.h"

#include "analysis/store/trace_file.h"

#include <QThread>

#include <algorithm>
#include <atomic>

namespace sonde::gui {

// A query may wait for one that computes the same value (ComputedOnce), while a third one runs.
constexpr int kLeastThreads = 3;

// One query, which another thread interrupts.
class Analyses::Running {
 public:
  void interrupt() { interrupted_ = true; }
  [[nodiscard]] bool interrupted() const { return interrupted_; }

 private:
  std::atomic<bool> interrupted_ = false;
};

// Opens the file; its statements fail once the query is interrupted.
Result<Analyses::Trace> Analyses::openFor(const std::shared_ptr<Running>& running,
                                          const QString& file) {
  SONDE_TRY_ASSIGN(store::Database trace, store::openTrace(file.toStdString()));
  trace.stopWhen([running] { return running->interrupted(); });
  return std::make_shared<const store::Database>(std::move(trace));
}

Analyses::Analyses(TraceDocument& document) : document_(document) {
  setThreads(0);
  // Engines that compute without reading end late: they must not delay those of the new trace.
  connect(&document, &TraceDocument::replaced, this, [this] {
    cancelAll();
    setThreads(pool_.activeThreadCount());
  });
}

void Analyses::setThreads(int outdated) {
  pool_.setMaxThreadCount(std::max(kLeastThreads, QThread::idealThreadCount()) + outdated);
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
        const Reply reply = running->interrupted() ? Reply() : job(openFor(running, file));
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
