// How long operators take by their arithmetic and memory traffic: a model, how wrong it was on
// sizes that it was not fitted to, and an interval. Plain values; any thread.
#pragma once

#include "analysis/engine/models/kernels/operator_work.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::models {

enum class KernelForm : std::uint8_t {
  Roofline,  // fixedNs + max(flopNs · flops, byteNs · bytes)
  Power,     // scale · flops^flopPower · bytes^bytePower
};

struct KernelModel {
  KernelKind kind = KernelKind::Memory;
  std::string op = {};    // empty: all of the kind
  std::string type = {};  // of the elements; of Memory: empty, since its bytes say it
  bool isOnDevice = false;

  KernelForm form = KernelForm::Roofline;
  double fixedNs = 0;
  double flopNs = 0;
  double byteNs = 0;
  double scale = 0;
  double flopPower = 0;
  double bytePower = 0;

  double error = 0;              // mean relative error at sizes that were held out
  double logError = 0;           // nine in ten such sizes have a smaller |ln(modelled / measured)|
  bool isErrorMeasured = false;  // or `error` and `logError` are assumed: too few sizes
  std::int64_t sizes = 0;

  // Where the model was fitted.
  double leastBytes = 0;
  double mostBytes = 0;

  double ns(const OperatorWork& work) const noexcept;
  // Its bytes are at most four times beyond those of the fitted sizes.
  bool covers(const OperatorWork& work) const noexcept;
  // r, where the time is expected between ns / (1 + r) and ns * (1 + r) in nine of ten cases. Wider
  // outside of the fitted sizes unless the error is assumed.
  double interval(const OperatorWork& work) const noexcept;
};

// The operator's own model, or else that of its kind and type. nullptr: none.
const KernelModel* modelOf(const std::vector<KernelModel>& all,
                           const OperatorWork& work,
                           bool isOnDevice);

}  // namespace sonde::engine::models
