// The judgement of a process from those of its tensors. Plain functions; any thread.
#pragma once

#include "rules/builtin/training/tensor_selection.h"
#include "rules/engine/verdict.h"
#include "rules/facts/saved_tensor.h"

#include <optional>
#include <string>
#include <vector>

namespace sonde::rules {

enum class TensorState { Healthy, Bad, Unknown };

// A rule's judgement of one tensor.
struct TensorJudgement {
  TensorState state = TensorState::Healthy;
  const TensorSeries* series = nullptr;
  const TensorFact* at = nullptr;  // the recording that it is about
  double value = 0;
  double threshold = 0;     // what `value` was compared with
  double rank = 0;          // the greater, the worse
  std::string text;         // "fc1.weight (gradients) is … in iteration 3"
  bool lacksInput = false;  // Unknown because it was not saved, or too rarely recorded
};

// Unknown: the recording has NaN or infinite elements, or a statistic that is not a number, so that
// a rule about its finite elements must not pass it. Unset: it can be judged.
std::optional<TensorJudgement> unjudgeable(const TensorSeries& series, const TensorFact& at);

// Unknown, for a reason that starts with a verb: "cannot be read: …".
TensorJudgement unknown(const TensorSeries& series, const TensorFact& at, const std::string& why);

// Unknown, because the tensor was not recorded often enough; `why` starts with a verb.
TensorJudgement tooRare(const TensorSeries& series, const TensorFact& at, const std::string& why);

// Unknown, because the rule needs the elements themselves, which were not saved.
TensorJudgement notSaved(const TensorSeries& series, const TensorFact& at);

// Fired if one is bad, else insufficient if one is unknown, else passed; the message is about the
// worst. `tensors` give window and samples. Insufficient if `found` is empty: no tensor has
// elements.
Outcome conclude(const std::vector<SelectedTensor>& tensors, std::vector<TensorJudgement> found);

}  // namespace sonde::rules
