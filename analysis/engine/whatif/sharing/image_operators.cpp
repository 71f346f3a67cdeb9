#include "analysis/engine/whatif/sharing/image_operators.h"

#include "analysis/engine/models/kernels/operator_inputs.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::whatif {
namespace {

using models::OperatorInput;
using models::Sizes;

struct SizedOperator {
  std::int64_t id = 0;
  std::int64_t threadId = 0;
  std::int64_t parentId = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;
  std::string name;
  std::string shapes;
  std::string types;

  SONDE_COLUMNS(id, threadId, parentId, startNs, durNs, name, shapes, types)
};

// Recorded operators have their sizes as arguments of their own, imported ones as members of
// `args`.
constexpr const char* kSizedOperators =
    "SELECT s.id, s.thread_id, coalesce(s.parent_id, 0) AS parent_id, s.start_ns, s.dur_ns, n.text "
    "AS name, coalesce((SELECT value FROM arg WHERE owner = 'slice' AND owner_id = s.id AND key_id "
    "= (SELECT id FROM string WHERE text = 'shapes')), json_extract(a.value, '$.\"Input Dims\"'), "
    "'') AS shapes, coalesce((SELECT value FROM arg WHERE owner = 'slice' AND owner_id = s.id AND "
    "key_id = (SELECT id FROM string WHERE text = 'dtypes')), json_extract(a.value, '$.\"Input "
    "type\"'), '') AS types FROM slice s JOIN string n ON n.id = s.name_id LEFT JOIN arg a ON "
    "a.owner = 'slice' AND a.owner_id = s.id AND a.key_id = (SELECT id FROM string WHERE text = "
    "'args') AND json_valid(a.value) WHERE s.kind = 'operator' AND s.dur_ns > 0";

constexpr std::size_t kImageExtents = 4;  // at least: samples, channels, rows and columns
constexpr std::array<std::string_view, 5> kNoImages = {
    "softmax", "attention", "matmul", "bmm", "transpose"};

bool isConvolutionName(std::string_view name) {
  return name.find("convolution") != std::string_view::npos ||
         name.find("::conv2d") != std::string_view::npos ||
         name.find("::conv3d") != std::string_view::npos;
}

// The only tensor of an input; nullptr: it has none, or it is a list.
const Sizes* tensorOf(const std::vector<OperatorInput>& inputs, std::size_t at) {
  return at < inputs.size() && inputs[at].tensors.size() == 1 ? &inputs[at].tensors.front()
                                                              : nullptr;
}

const Sizes* weightOf(const SizedOperator& row, const std::vector<OperatorInput>& inputs) {
  if (!isConvolutionName(row.name))
    return nullptr;
  const bool isBackward = row.name.find("backward") != std::string::npos;
  const Sizes* weight = tensorOf(inputs, isBackward ? 2 : 1);
  return weight != nullptr && weight->size() >= kImageExtents ? weight : nullptr;
}

std::optional<ImageOperator> imageOperatorOf(const SizedOperator& row,
                                             const std::vector<OperatorInput>& inputs,
                                             const std::set<Sizes>& weights) {
  const Sizes* image = tensorOf(inputs, 0);
  const bool isImage = image != nullptr && image->size() >= kImageExtents && (*image)[2] > 0 &&
                       !weights.contains(*image);
  const bool isOther = std::any_of(kNoImages.begin(), kNoImages.end(), [&](std::string_view word) {
    return row.name.find(word) != std::string::npos;
  });
  if (!isImage || isOther)
    return std::nullopt;
  ImageOperator found{.slice = row.id,
                      .threadId = row.threadId,
                      .parentId = row.parentId,
                      .startNs = row.startNs,
                      .durNs = row.durNs,
                      .rows = (*image)[2],
                      .isConvolution = isConvolutionName(row.name)};
  found.rowBytes = models::elementsOf(*image) / static_cast<double>(found.rows) *
                   models::bytesOfType(inputs.front().type);
  if (const Sizes* weight = weightOf(row, inputs))
    found.kernelRows = (*weight)[2];
  return found;
}

}  // namespace

Result<ImageOperators> readImageOperators(const store::Database& trace) {
  std::vector<std::pair<SizedOperator, std::vector<OperatorInput>>> all;
  std::set<Sizes> weights;
  SONDE_TRY(store::forEach<SizedOperator>(trace, kSizedOperators, [&](const SizedOperator& row) {
    if (row.shapes.empty())
      return;
    auto inputs = models::parseInputs(row.shapes, row.types);
    if (!inputs)
      return;
    if (const Sizes* weight = weightOf(row, *inputs))
      weights.insert(*weight);
    all.emplace_back(row, std::move(*inputs));
  }));
  ImageOperators found;
  found.withSizes = static_cast<std::int64_t>(all.size());
  for (const auto& [row, inputs] : all)
    if (const auto image = imageOperatorOf(row, inputs, weights)) {
      found.convolutions += image->isConvolution ? 1 : 0;
      found.bySlice.emplace(row.id, *image);
    }
  return found;
}

}  // namespace sonde::engine::whatif
