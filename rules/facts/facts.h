// All that rules know of a trace, read when the first rule asks and then kept. Not thread-safe: one
// thread, the database's.
#pragma once

#include "analysis/engine/recent/recent_trace.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <typeindex>
#include <utility>

namespace sonde::rules {

class Baselines;

class Facts {
 public:
  // Requires: the trace outlives the facts.
  explicit Facts(const store::Database& trace) : trace_(&trace) {}

  const store::Database& trace() const noexcept { return *trace_; }

  // The earlier runs to compare with; nullptr: there are none, as in a live recording.
  Baselines* baselines() const noexcept { return baselines_; }
  // Requires: they outlive the facts.
  void compareWith(Baselines* baselines) noexcept { baselines_ = baselines; }

  // The newest iterations of a long trace; a short one whole. For rules that read many events.
  Result<const store::Database*> recent() {
    SONDE_TRY_ASSIGN(const auto* const recent, of<engine::recent::RecentTrace>());
    return &recent->database();
  }

  // T::read(trace), once until refresh(). Requires: T has `static Result<T> read(const
  // store::Database&)`. If it has `static constexpr bool kOfRecent = true`, it reads recent().
  template <typename T>
  Result<const T*> of() {
    Entry& entry = entries_[typeid(T)];
    if (!entry.value) {
      const store::Database* from = trace_;
      if constexpr (requires { T::kOfRecent; }) {
        SONDE_TRY_ASSIGN(from, recent());
      }
      SONDE_TRY_ASSIGN(T read, T::read(*from));
      entry.value = std::make_shared<T>(std::move(read));
      if constexpr (requires(T value, const store::Database& trace) { value.grow(trace); })
        entry.grow = [this](void* value) { return static_cast<T*>(value)->grow(*trace_); };
    }
    return static_cast<const T*>(entry.value.get());
  }

  // The trace has got new rows: facts that can grow do so, the others are read again when asked
  // for.
  Result<void> refresh() {
    for (auto& [type, entry] : entries_) {
      if (!entry.grow)
        entry.value.reset();
      else if (entry.value)
        SONDE_TRY(entry.grow(entry.value.get()));
    }
    return {};
  }

 private:
  struct Entry {
    std::shared_ptr<void> value;
    std::function<Result<void>(void*)> grow;
  };

  const store::Database* trace_;
  Baselines* baselines_ = nullptr;
  std::map<std::type_index, Entry> entries_;
};

}  // namespace sonde::rules
