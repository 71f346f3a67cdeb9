#include "analysis/model/operation_types.h"

#include <algorithm>
#include <iterator>

namespace sonde::model {
namespace {

struct TypeRow {
  std::string_view word;
  SliceKind kind;
};

// Indexed by the enumerators' numbers.
constexpr TypeRow kTypes[] = {
    {"forward-compute", SliceKind::Forward},
    {"backward-compute", SliceKind::Backward},
    {"forward-send", SliceKind::Collective},
    {"forward-recv", SliceKind::Collective},
    {"backward-send", SliceKind::Collective},
    {"backward-recv", SliceKind::Collective},
    {"params-all-gather", SliceKind::Collective},
    {"grads-reduce-scatter", SliceKind::Collective},
    {"layernorm-grads-all-reduce", SliceKind::Collective},
    {"embedding-grads-all-reduce", SliceKind::Collective},
    {"gc", SliceKind::Operation},
    {"optimizer-clip-main-grad", SliceKind::Optimizer},
    {"optimizer", SliceKind::Optimizer},
};
static_assert(std::size(kTypes) == kOperationTypes);

}  // namespace

std::string_view word(OperationType type) noexcept {
  const auto index = static_cast<std::size_t>(type);
  return index < kOperationTypes ? kTypes[index].word : std::string_view();
}

std::optional<OperationType> operationTypeOf(std::string_view word) noexcept {
  const auto* const found = std::find_if(
      std::begin(kTypes), std::end(kTypes), [=](const TypeRow& row) { return row.word == word; });
  if (found == std::end(kTypes))
    return {};
  return static_cast<OperationType>(found - std::begin(kTypes));
}

bool isCommunication(OperationType type) noexcept {
  return sliceKindOf(type) == SliceKind::Collective || type == OperationType::Clip;
}

SliceKind sliceKindOf(OperationType type) noexcept {
  const auto index = static_cast<std::size_t>(type);
  return index < kOperationTypes ? kTypes[index].kind : SliceKind::Operation;
}

}  // namespace sonde::model
