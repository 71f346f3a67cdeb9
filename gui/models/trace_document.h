// The trace that the window shows: its files, its skeleton, and the worker that reads it.
//
// The models of the window ask it for what they show, and never wait for an answer. The window owns
// one, together with these models, as TraceModels. Main thread.
#pragma once

#include "gui/trace/query_worker.h"
#include "gui/trace/trace_data.h"
#include "gui/trace/trace_import.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <utility>

namespace sonde::gui {

class TraceDocument : public QObject {
  Q_OBJECT

 public:
  enum class State { Empty, Loading, Ready, Failed };
  enum class OnError { Announce, Ignore };
  using Slot = QueryWorker::Slot;

  explicit TraceDocument(QObject* parent = nullptr);

  void open(const QStringList& paths);
  // Reads a later state of the open trace, perhaps under another name, and shows the present one
  // until then, or on if that fails. Requires: a trace is open.
  void follow(const QStringList& paths);
  // The trace is a later state of the one before it.
  [[nodiscard]] bool isContinued() const { return isContinued_; }
  // Stops an opening that has not ended; no trace is open then. Does nothing otherwise.
  void cancelOpening();
  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool ready() const { return state_ == State::Ready; }
  [[nodiscard]] const QString& error() const { return error_; }
  [[nodiscard]] const QStringList& paths() const { return paths_; }
  [[nodiscard]] const Skeleton& skeleton() const { return skeleton_; }

  // Runs `query(reader, cancellation)`, which returns a Result, on the worker's thread, and then
  // `accept` with its value on this one. A newer query of the slot cancels it. `query` must not
  // touch the models.
  template <typename Query, typename Accept>
  void ask(Slot slot, Query query, Accept accept, OnError onError = OnError::Announce);
  void cancel(Slot slot) { worker_.cancel(slot); }
  // All queries have been answered.
  [[nodiscard]] bool settled() const { return worker_.idle(); }

 signals:
  // The skeleton is another one: an empty one while a trace is opened, and then the trace's own.
  // Models drop what they hold; views wait for `opened`.
  void replaced();
  void opened();
  // An opening goes on: what it does, and the completed share from 0 to 1.
  void progressed(const QString& step, double share);
  // The trace could not be opened, or a query failed.
  void failed(const QString& message);
  void settledDown();

 private:
  // For the worker's thread: tells of progress on this one.
  [[nodiscard]] OpeningWatch watch(const QStringList& paths, const Cancellation& cancellation);
  void show(Skeleton skeleton);
  void showLater(const QStringList& paths, Skeleton skeleton);
  // The reader may have read a later state already, whose skeleton has not arrived here.
  [[nodiscard]] static bool isOfOpening(const TraceReader& reader, int opening);

  State state_ = State::Empty;
  QString error_;
  QStringList paths_;
  bool isContinued_ = false;
  Skeleton skeleton_;
  QueryWorker worker_;  // last: its thread ends before the members that replies write to are
                        // destroyed
};

template <typename Query, typename Accept>
void TraceDocument::ask(Slot slot, Query query, Accept accept, OnError onError) {
  worker_.post(slot,
               [this,
                query = std::move(query),
                accept = std::move(accept),
                onError,
                opening = skeleton_.opening](
                   TraceReader& reader, const Cancellation& cancellation) -> QueryWorker::Reply {
                 if (!isOfOpening(reader, opening))
                   return {};
                 auto answer = query(reader, cancellation);
                 if (answer)
                   return
                       [accept, value = *std::move(answer)]() mutable { accept(std::move(value)); };
                 if (onError == OnError::Ignore)
                   return {};
                 return [this, message = QString::fromStdString(answer.error().message)] {
                   emit failed(message);
                 };
               });
}

}  // namespace sonde::gui
