#include "gui/models/trace_document.h"

#include "gui/trace/trace_reader.h"

namespace sonde::gui {

TraceDocument::TraceDocument(QObject* parent) : QObject(parent) {
  connect(&worker_, &QueryWorker::becameIdle, this, &TraceDocument::settledDown);
}

void TraceDocument::open(const QStringList& paths) {
  worker_.cancelAll();
  skeleton_ = {};
  paths_ = paths;
  state_ = State::Loading;
  worker_.post(Slot::Open,
               [this, paths](TraceReader& reader, const Cancellation&) -> QueryWorker::Reply {
                 auto skeleton = reader.open(paths);
                 if (!skeleton)
                   return [this, message = QString::fromStdString(skeleton.error().message)] {
                     state_ = State::Failed;
                     error_ = message;
                     emit failed(message);
                   };
                 return [this, read = *std::move(skeleton)]() mutable {
                   skeleton_ = std::move(read);
                   state_ = State::Ready;
                   emit replaced();
                   emit opened();
                 };
               });
  emit replaced();
}

}  // namespace sonde::gui
