// The phase, operation and module of each scope of a trace; a scope counts as its own. One thread.
// Within engine/breakdown, except isOperation().
#pragma once

#include "analysis/engine/breakdown/labels.h"
#include "analysis/model/words.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sonde::engine::breakdown {

// Whether a slice of this kind is an operation of the algorithm.
bool isOperation(model::SliceKind kind) noexcept;

// The dimensions to distinguish; the others are 0.
struct ScopeDimensions {
  bool phase = true;
  bool operation = true;
  bool module = false;
};

class Scopes {
 public:
  explicit Scopes(ScopeDimensions dimensions) : dimensions_(dimensions) {}

  // A slice that is a scope. nameId is a string.
  struct Scope {
    std::uint32_t id = 0;
    std::uint32_t scopeId = 0;  // the scope around it; 0: none
    std::uint32_t nameId = 0;
    model::SliceKind kind{};
  };
  // Requires: ids ascend, and of() has not been called.
  void add(const Scope& scope);

  // The names of the scope with this id; all 0 if it does not exist. A chain of scopes that leads
  // back to itself, possible in a damaged file, ends there.
  ScopeNames of(std::uint32_t id);
  // By name: of the first phase, operation or module that has it.
  const std::unordered_map<std::uint32_t, model::SliceKind>& kinds() const noexcept {
    return kinds_;
  }
  // Whether it is in any phase, operation or module, distinguished or not.
  bool isInScope(std::uint32_t id);

 private:
  struct Entry {
    std::uint32_t id;
    std::uint32_t scopeId;
    std::uint32_t name;  // its string; once resolved, its place in names_
    model::SliceKind kind;
    enum class State : std::uint8_t { New, Visited, Resolved } state;
  };
  Entry* find(std::uint32_t id);
  std::uint32_t resolve(std::uint32_t id);  // its place in names_
  std::uint32_t namesWithin(const Entry& entry, std::uint32_t around);

  ScopeDimensions dimensions_;
  std::vector<Entry> entries_;
  std::unordered_map<std::uint32_t, model::SliceKind> kinds_;
  std::vector<ScopeNames> names_ = {ScopeNames{}};
  std::unordered_map<ScopeNames, std::uint32_t, ScopeNamesHash> placeOfNames_;
  std::size_t lastFound_ = 0;
  std::vector<Entry*> chain_;
};

}  // namespace sonde::engine::breakdown
