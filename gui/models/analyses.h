// Runs the engines over the open trace, for the views that show their values.
//
// Each query gets a connection of its own on one of several threads, so that a long one delays
// neither the timeline nor the window. An asker has one query at a time: a newer one interrupts the
// older, and another trace interrupts all. An interrupted query ends when it next reads its
// connection. Part of TraceModels. Main thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/models/trace_document.h"

#include <QHash>
#include <QObject>
#include <QSet>
#include <QThreadPool>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace sonde::gui {

class Analyses : public QObject {
  Q_OBJECT

 public:
  // Requires: `document` outlives it.
  explicit Analyses(TraceDocument& document);
  // Interrupts everything and waits for it.
  ~Analyses() override;
  Analyses(const Analyses&) = delete;
  Analyses& operator=(const Analyses&) = delete;

  // Runs `query(const store::Database&)`, which returns a Result, on another thread, and then
  // `accept` with that Result on this one, unless it was interrupted or `asker` is gone. `query`
  // must not touch the models. It may open other files, and gives them trace.stopCheck(), so that
  // they end with it. A query that takes a std::shared_ptr<const store::Database> may keep the
  // connection, after trace->stopWhen({}). Requires: the document is ready.
  template <typename Query, typename Accept>
  void ask(QObject& asker, Query query, Accept accept);
  void cancel(const QObject& asker);
  // All queries have been answered.
  [[nodiscard]] bool settled() const { return outstanding_ == 0; }

 signals:
  void settledDown();

 private:
  class Running;
  using Trace = std::shared_ptr<const store::Database>;
  using Reply = std::function<void()>;
  using Job = std::function<Reply(const Result<Trace>&)>;
  template <typename Query>
  static auto apply(Query& query, const Trace& trace);

  static Result<Trace> openFor(const std::shared_ptr<Running>& running, const QString& file);
  void post(QObject& asker, Job job);
  void deliver(const QObject* asker, const std::shared_ptr<Running>& running, const Reply& reply);
  void cancelAll();
  void setThreads(int outdated);

  TraceDocument& document_;
  QHash<const QObject*, std::shared_ptr<Running>> newest_;
  QSet<const QObject*> askers_;  // that are watched for their end
  int outstanding_ = 0;
  QThreadPool pool_;
};

template <typename Query>
auto Analyses::apply(Query& query, const Trace& trace) {
  if constexpr (std::is_invocable_v<Query&, const store::Database&>)
    return query(*trace);
  else
    return query(trace);
}

template <typename Query, typename Accept>
void Analyses::ask(QObject& asker, Query query, Accept accept) {
  using Answer = decltype(apply(query, std::declval<const Trace&>()));
  post(asker,
       [query = std::move(query),
        accept = std::move(accept)](const Result<Trace>& trace) mutable -> Reply {
         auto answer =
             std::make_shared<Answer>(trace ? apply(query, *trace) : Answer(trace.error()));
         return [accept, answer]() mutable { accept(std::move(*answer)); };
       });
}

}  // namespace sonde::gui
