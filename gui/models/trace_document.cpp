#include "gui/models/trace_document.h"

#include "gui/trace/qtext.h"
#include "gui/trace/trace_reader.h"

namespace sonde::gui {

TraceDocument::TraceDocument(QObject* parent) : QObject(parent) {
  connect(&worker_, &QueryWorker::becameIdle, this, &TraceDocument::settledDown);
}

OpeningWatch TraceDocument::watch(const QStringList& paths, const Cancellation& cancellation) {
  OpeningWatch watch;
  watch.isCancelled = [&cancellation] { return cancellation.requested(); };
  watch.progress = Progress([this, paths](std::string_view step, double share) {
    QMetaObject::invokeMethod(
        this,
        [this, paths, step = qtext(step), share] {
          if (state_ == State::Loading && paths_ == paths)
            emit progressed(step, share);
        },
        Qt::QueuedConnection);
  });
  return watch;
}

bool TraceDocument::isOfOpening(const TraceReader& reader, int opening) {
  return reader.skeleton().opening == opening;
}

void TraceDocument::show(Skeleton skeleton) {
  skeleton_ = std::move(skeleton);
  state_ = State::Ready;
  emit replaced();
  emit opened();
}

void TraceDocument::open(const QStringList& paths) {
  worker_.cancelAll();
  skeleton_ = {};
  paths_ = paths;
  isContinued_ = false;
  state_ = State::Loading;
  worker_.post(
      Slot::Open,
      [this, paths](TraceReader& reader, const Cancellation& cancellation) -> QueryWorker::Reply {
        auto skeleton = reader.open(paths, watch(paths, cancellation));
        if (!skeleton)
          return [this, message = QString::fromStdString(skeleton.error().message)] {
            state_ = State::Failed;
            error_ = message;
            emit failed(message);
          };
        return [this, read = *std::move(skeleton)]() mutable { show(std::move(read)); };
      });
  emit replaced();
}

void TraceDocument::follow(const QStringList& paths) {
  worker_.post(
      Slot::Open,
      [this, paths](TraceReader& reader, const Cancellation& cancellation) -> QueryWorker::Reply {
        auto skeleton = reader.open(paths, watch(paths, cancellation));
        if (!skeleton)
          return [this,
                  message = QString::fromStdString(skeleton.error().message),
                  last = reader.skeleton()] {
            // The state that it read before may not have arrived here.
            if (last.opening != skeleton_.opening)
              showLater(paths_, last);
            emit failed(message);
          };
        return [this, paths, read = *std::move(skeleton)]() mutable {
          showLater(paths, std::move(read));
        };
      });
}

void TraceDocument::showLater(const QStringList& paths, Skeleton skeleton) {
  worker_.cancelAll();  // they asked for tracks of the state before
  paths_ = paths;
  isContinued_ = true;
  show(std::move(skeleton));
}

void TraceDocument::cancelOpening() {
  if (state_ != State::Loading)
    return;
  worker_.cancelAll();
  state_ = State::Empty;
  paths_.clear();
  emit replaced();
}

}  // namespace sonde::gui
