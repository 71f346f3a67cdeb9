// Values of the open trace that several views show, such as its report: whichever view asks first
// has one computed, and the others get the same. Another trace drops them all. Part of TraceModels.
// Main thread; the queries run on any.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"
#include "gui/models/trace_document.h"

#include <QObject>

#include <any>
#include <memory>
#include <mutex>
#include <typeindex>
#include <typeinfo>
#include <unordered_map>
#include <utility>

namespace sonde::gui {

class ComputedOnce : public QObject {
  Q_OBJECT

 public:
  // Requires: `document` outlives it.
  explicit ComputedOnce(TraceDocument& document);

  // A query for Analyses::ask() with the value of `Read(trace)`, as a shared pointer to a constant.
  // A query waits while another one computes the same value. Errors are those of `Read`, and are
  // not kept.
  template <auto Read>
  [[nodiscard]] auto query();

 private:
  struct Entry {
    std::mutex mutex;
    std::any value;  // empty: not computed yet
  };
  template <auto Read>
  struct Key {};

  std::shared_ptr<Entry> entryOf(std::type_index key);

  std::unordered_map<std::type_index, std::shared_ptr<Entry>> entries_;
};

template <auto Read>
auto ComputedOnce::query() {
  return [entry = entryOf(typeid(Key<Read>))](const std::shared_ptr<const store::Database>& trace) {
    const auto compute = [&trace] {
      if constexpr (std::is_invocable_v<decltype(Read), const store::Database&>)
        return Read(*trace);
      else
        return Read(trace);
    };
    using Value = std::decay_t<decltype(*compute())>;
    using Shared = std::shared_ptr<const Value>;
    const std::lock_guard lock(entry->mutex);
    if (!entry->value.has_value()) {
      auto computed = compute();
      if (!computed)
        return Result<Shared>(computed.error());
      entry->value = Shared(std::make_shared<const Value>(*std::move(computed)));
    }
    return Result<Shared>(std::any_cast<Shared>(entry->value));
  };
}

}  // namespace sonde::gui
