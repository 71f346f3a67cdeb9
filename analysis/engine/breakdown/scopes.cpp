#include "analysis/engine/breakdown/scopes.h"

#include <algorithm>

namespace sonde::engine::breakdown {

using model::SliceKind;

bool isOperation(SliceKind kind) noexcept {
  switch (kind) {
    case SliceKind::Operation:
    case SliceKind::Forward:
    case SliceKind::Backward:
    case SliceKind::Optimizer:
    case SliceKind::DataLoad:
    case SliceKind::Checkpoint:
    case SliceKind::Evaluation:
      return true;
    default:
      return false;
  }
}

namespace {

bool isDistinguished(SliceKind kind) noexcept {
  return kind == SliceKind::Phase || kind == SliceKind::Module || isOperation(kind);
}

}  // namespace

void Scopes::add(const Scope& scope) {
  entries_.push_back({scope.id, scope.scopeId, scope.nameId, scope.kind, Entry::State::New});
  if (isDistinguished(scope.kind))
    kinds_.try_emplace(scope.nameId, scope.kind);
}

// Consecutive lookups are mostly close together: the search widens from the last result.
Scopes::Entry* Scopes::find(std::uint32_t id) {
  if (id == 0 || entries_.empty())
    return nullptr;
  std::size_t low = lastFound_;
  std::size_t high = lastFound_ + 1;
  for (std::size_t step = 1; low > 0 && entries_[low].id > id; step *= 2)
    low = low > step ? low - step : 0;
  for (std::size_t step = 1; high < entries_.size() && entries_[high].id <= id; step *= 2)
    high = std::min(high + step, entries_.size());
  const auto at =
      std::lower_bound(entries_.begin() + static_cast<std::ptrdiff_t>(low),
                       entries_.begin() + static_cast<std::ptrdiff_t>(high),
                       id,
                       [](const Entry& entry, std::uint32_t wanted) { return entry.id < wanted; });
  if (at == entries_.end() || at->id != id)
    return nullptr;
  lastFound_ = static_cast<std::size_t>(at - entries_.begin());
  return &*at;
}

std::uint32_t Scopes::resolve(std::uint32_t id) {
  chain_.clear();
  Entry* entry = find(id);
  for (; entry != nullptr && entry->state == Entry::State::New; entry = find(entry->scopeId)) {
    entry->state = Entry::State::Visited;
    chain_.push_back(entry);
  }
  // A scope that was visited before closes a circle: the chain ends there.
  const bool isKnown = entry != nullptr && entry->state == Entry::State::Resolved;
  std::uint32_t names = isKnown ? entry->name : 0;
  for (auto inner = chain_.rbegin(); inner != chain_.rend(); ++inner) {
    names = (*inner)->name = namesWithin(**inner, names);
    (*inner)->state = Entry::State::Resolved;
  }
  return names;
}

bool Scopes::isInScope(std::uint32_t id) {
  return resolve(id) != 0;
}

ScopeNames Scopes::of(std::uint32_t id) {
  const ScopeNames names = names_[resolve(id)];
  return {dimensions_.phase ? names.phase : 0,
          dimensions_.operation ? names.operation : 0,
          dimensions_.module ? names.module : 0};
}

std::uint32_t Scopes::namesWithin(const Entry& entry, std::uint32_t around) {
  ScopeNames names = names_[around];
  if (entry.kind == SliceKind::Phase)
    names.phase = entry.name;
  else if (isOperation(entry.kind))
    names.operation = entry.name;
  else if (entry.kind == SliceKind::Module)
    names.module = entry.name;
  if (names == names_[around])
    return around;
  const auto [known, isNew] =
      placeOfNames_.try_emplace(names, static_cast<std::uint32_t>(names_.size()));
  if (isNew)
    names_.push_back(names);
  return known->second;
}

}  // namespace sonde::engine::breakdown
