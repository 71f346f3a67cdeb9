#include "analysis/questions/device_questions.h"

#include "analysis/engine/models/kernels/device_peaks.h"
#include "analysis/engine/whatif/compute/block_sparsity.h"
#include "analysis/engine/whatif/compute/device.h"
#include "base/text/number.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>

namespace sonde::questions {
namespace {

namespace models = engine::models;
namespace whatif = engine::whatif;

Result<double> factorIn(const std::string& key, const std::string& value) {
  const auto factor = value.starts_with('x') ? numberOf(value.substr(1)) : std::nullopt;
  if (!factor || !(*factor > 0))
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{}='{}' is not a factor above 0, such as x1.5", key, value)};
  return *factor;
}

Result<const models::DevicePeaks*> deviceIn(const std::string& key, const std::string& value) {
  const models::DevicePeaks* found = models::peaksOf(value);
  if (found == nullptr)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{}='{}' is not a device with known peaks: use one of {}, or "
                             "bandwidth=x… and flops=x…",
                             key,
                             value,
                             models::namesOfPeaks())};
  return found;
}

Result<whatif::Question> makeDevice(const NamedValues& values) {
  whatif::OtherDevice of;
  for (const auto& [key, value] : values) {
    if (key == "to" && value == "model") {
      of.isOfModels = true;
    } else if (key == "to" || key == "from") {
      SONDE_TRY_ASSIGN((key == "to" ? of.to : of.from), deviceIn(key, value));
    } else if (key == "bandwidth" || key == "flops") {
      SONDE_TRY_ASSIGN((key == "flops" ? of.flops : of.bandwidth), factorIn(key, value));
    } else {
      return unknownKey("device", key, "to, from, bandwidth and flops");
    }
  }
  if (of.isOfModels && values.size() > 1)
    return Error{ErrorCode::InvalidArgument,
                 "to=model takes all times from --model, so it has no other settings"};
  if (of.to == nullptr && !of.bandwidth && !of.flops && !of.isOfModels)
    return Error{ErrorCode::InvalidArgument,
                 "give to=…, bandwidth=… or flops=…, as in device,to=H100 or "
                 "device,bandwidth=x1.5,flops=x2"};
  return whatif::device(of);
}

Result<whatif::Question> makeBlockSparsity(const NamedValues& values) {
  whatif::BlockSparsity of;
  const models::DevicePeaks* from = nullptr;
  for (const auto& [key, value] : values) {
    if (key == "density") {
      const bool isPercent = value.ends_with('%');
      const auto number = numberOf(value.substr(0, value.size() - (isPercent ? 1 : 0)));
      if (!number)
        return Error{ErrorCode::InvalidArgument,
                     fmt::format("density='{}' is not a number such as 0.1 or 10%", value)};
      of.density = isPercent ? *number / 100 : *number;
    } else if (key == "block") {
      SONDE_TRY_ASSIGN(const std::int64_t block, wholeNumber(value));
      of.block = static_cast<double>(block);
    } else if (key == "from") {
      SONDE_TRY_ASSIGN(from, deviceIn(key, value));
    } else {
      return unknownKey("block-sparsity", key, "density, block and from");
    }
  }
  if (!values.contains("density"))
    return Error{ErrorCode::InvalidArgument,
                 "the question 'block-sparsity' needs density=…, as in block-sparsity,density=10%"};
  return whatif::blockSparsity(of, from);
}

constexpr std::array kQuestions = {
    NamedQuestion{"block-sparsity",
                  "multiplies only blocks of its weights",
                  "density=,block=,from=",
                  makeBlockSparsity},
    NamedQuestion{"device", "runs on another GPU", "to=,from=,bandwidth=,flops=", makeDevice},
};

}  // namespace

std::span<const NamedQuestion> deviceQuestions() {
  return kQuestions;
}

}  // namespace sonde::questions
