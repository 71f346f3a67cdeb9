// The rules check-input-images and nlp-sequence-ratio: the inputs of the model.
#include "rules/builtin/training/tensor_judgement.h"
#include "rules/builtin/training/training_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::rules {
namespace {

constexpr std::size_t kImageDimensions = 4;  // images, channels, height, width

std::vector<std::int64_t> sizesOf(const TensorFact& value) {
  const auto sizes = nlohmann::json::parse(value.shape, nullptr, false);
  std::vector<std::int64_t> shape;
  if (sizes.is_array())
    for (const auto& size : sizes)
      shape.push_back(size.is_number_integer() ? size.get<std::int64_t>() : 0);
  return shape;
}

Outcome noSuchInput(const std::vector<SelectedTensor>& tensors, const std::string& what) {
  Outcome outcome = outcomeOf(tensors);
  outcome.verdict = Verdict::Skipped;
  outcome.message = fmt::format("none of {} recorded inputs {}", tensors.size(), what);
  return outcome;
}

// Adds up images until there are enough of them.
class ImageMeans {
 public:
  ImageMeans(const ProcessView& view, const SelectedTensor& tensor, const Parameters& parameters)
      : view_(view), tensor_(tensor), parameters_(parameters) {}

  TensorJudgement judge() {
    const TensorFact& now = tensor_.values.back();
    const std::int64_t needed = parameters_.integer("threshold_samples");
    for (auto left = tensor_.values; !left.empty() && images_ < needed;
         left = left.first(left.size() - 1))
      if (auto unclear = add(left.back()))
        return *std::move(unclear);
    if (images_ < needed)
      return tooRare(
          *tensor_.series, now, fmt::format("has {} images, but {} are needed", images_, needed));
    return conclude(now);
  }

 private:
  std::optional<TensorJudgement> add(const TensorFact& value) {
    const auto shape = sizesOf(value);
    if (shape.size() != kImageDimensions || value.elements == 0)
      return std::nullopt;
    if (auto unclear = unjudgeable(*tensor_.series, value))
      return unclear;
    images_ += shape[0];
    elements_ += static_cast<double>(value.elements);
    sum_ += *value.mean * static_cast<double>(value.elements);
    const auto axis = static_cast<std::size_t>(parameters_.integer("channel_axis"));
    channels_ = std::max<std::size_t>(channels_, static_cast<std::size_t>(shape[axis]));
    if (value.file.empty())
      isSaved_ = false;
    else if (isSaved_)
      return addChannels(value, axis);
    return std::nullopt;
  }
  std::optional<TensorJudgement> addChannels(const TensorFact& value, std::size_t axis) {
    const auto saved = readSavedTensor(view_.process().folder, value);
    if (!saved)
      return unknown(*tensor_.series, value, "cannot be read: " + saved.error().message);
    if (saved->shape != sizesOf(value))
      return unknown(*tensor_.series, value, "was saved with another shape: record it again");
    std::size_t stride = 1;
    for (std::size_t at = axis + 1; at < saved->shape.size(); ++at)
      stride *= static_cast<std::size_t>(saved->shape[at]);
    const auto width = static_cast<std::size_t>(saved->shape[axis]);
    sums_.resize(std::max(sums_.size(), width));
    counts_.resize(sums_.size());
    for (std::size_t at = 0; at < saved->values.size(); ++at) {
      sums_[at / stride % width] += saved->values[at];
      counts_[at / stride % width] += 1;
    }
    return std::nullopt;
  }
  TensorJudgement conclude(const TensorFact& now) const {
    TensorJudgement judgement;
    judgement.series = tensor_.series;
    judgement.at = &now;
    judgement.threshold = parameters_.real("threshold_mean");
    double mean = sum_ / elements_;
    std::string what = "all channels";
    if (isSaved_)
      for (std::size_t at = 0; at < sums_.size(); ++at)
        if (at == 0 || std::abs(sums_[at] / counts_[at]) > std::abs(mean)) {
          mean = sums_[at] / counts_[at];
          what = fmt::format("channel {}", at);
        }
    judgement.value = std::abs(mean);
    judgement.rank = judgement.value;
    if (judgement.value > judgement.threshold)
      judgement.state = TensorState::Bad;
    else if (!isSaved_ && channels_ > 1)
      return notSaved(*tensor_.series, now);
    judgement.text = fmt::format(
        "{} has the mean {:.3g} in {} of {} images", nameOf(*tensor_.series), mean, what, images_);
    return judgement;
  }

  const ProcessView& view_;
  const SelectedTensor& tensor_;
  const Parameters& parameters_;
  std::int64_t images_ = 0;
  double elements_ = 0;
  double sum_ = 0;
  std::size_t channels_ = 0;
  bool isSaved_ = true;
  std::vector<double> sums_;  // of channels
  std::vector<double> counts_;
};

Outcome judgeImages(const ProcessView& view, const Parameters& parameters) {
  const auto tensors = selectedTensors(view, parameters);
  if (tensors.empty())
    return tensorsMissing(view, parameters);
  std::vector<SelectedTensor> images;
  for (const SelectedTensor& each : tensors)
    if (sizesOf(each.values.back()).size() == kImageDimensions)
      images.push_back(each);
  if (images.empty())
    return noSuchInput(tensors, "has the four dimensions of images");
  std::vector<TensorJudgement> found;
  found.reserve(images.size());
  for (const SelectedTensor& each : images)
    found.push_back(ImageMeans(view, each, parameters).judge());
  return conclude(images, std::move(found));
}

// Numbers of a list such as "0, 101"; unset: it is not one.
std::optional<std::vector<double>> numbersIn(const std::string& text) {
  std::vector<double> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    while (at != end && *at == ' ')
      ++at;
    double number = 0;
    const auto [rest, problem] = std::from_chars(at, end, number);
    if (problem != std::errc() || !std::isfinite(number))
      return std::nullopt;
    numbers.push_back(number);
    at = rest;
    while (at != end && *at == ' ')
      ++at;
    if (at == end)
      return numbers;
    if (*at++ != ',')
      return std::nullopt;
  }
}

struct TokenLimit {
  double token;
  double share;
};

std::optional<std::vector<TokenLimit>> limitsOf(const Parameters& parameters) {
  const auto tokens = numbersIn(parameters.text("token_values"));
  const auto shares = numbersIn(parameters.text("token_shares"));
  if (!tokens || !shares || tokens->size() != shares->size())
    return std::nullopt;
  std::vector<TokenLimit> limits;
  for (std::size_t at = 0; at < tokens->size(); ++at)
    limits.push_back({(*tokens)[at], (*shares)[at]});
  return limits;
}

TensorJudgement shareJudgement(const SelectedTensor& tensor,
                               const TokenLimit& limit,
                               double count) {
  const TensorFact& at = tensor.values.back();
  TensorJudgement judgement;
  judgement.series = tensor.series;
  judgement.at = &at;
  judgement.value = count / static_cast<double>(at.elements);
  judgement.threshold = limit.share;
  judgement.rank = judgement.value - limit.share;
  if (judgement.value > limit.share)
    judgement.state = TensorState::Bad;
  judgement.text = fmt::format("{:.3g} % of {} are the token {:g} in iteration {}",
                               100 * judgement.value,
                               nameOf(*tensor.series),
                               limit.token,
                               at.iteration);
  return judgement;
}

TensorJudgement judgeToken(const ProcessView& view,
                           const SelectedTensor& tensor,
                           const TokenLimit& limit) {
  const TensorFact& at = tensor.values.back();
  if (limit.token == 0)
    return shareJudgement(tensor, limit, static_cast<double>(at.zeros));
  if (at.file.empty())
    return notSaved(*tensor.series, at);
  const auto saved = readSavedTensor(view.process().folder, at);
  if (!saved)
    return unknown(*tensor.series, at, "cannot be read: " + saved.error().message);
  return shareJudgement(
      tensor,
      limit,
      static_cast<double>(std::count(saved->values.begin(), saved->values.end(), limit.token)));
}

Outcome judgeTokens(const ProcessView& view, const Parameters& parameters) {
  const auto limits = limitsOf(parameters);
  if (!limits) {
    Outcome outcome;
    outcome.verdict = Verdict::Error;
    outcome.message = fmt::format(
        "token_values is '{}' and token_shares is '{}': set both to as "
        "many numbers, separated by commas",
        parameters.text("token_values"),
        parameters.text("token_shares"));
    return outcome;
  }
  const auto tensors = newestValues(selectedTensors(view, parameters), 1);
  if (tensors.empty())
    return tensorsMissing(view, parameters);
  std::vector<SelectedTensor> tokens;
  for (const SelectedTensor& each : tensors)
    if (each.values.back().dtype.find("int") != std::string::npos)
      tokens.push_back(each);
  if (tokens.empty())
    return noSuchInput(tensors, "has integers, as tokens are");
  std::vector<TensorJudgement> found;
  for (const SelectedTensor& each : tokens)
    for (const TokenLimit& limit : *limits)
      if (each.values.back().elements > 0)
        found.push_back(judgeToken(view, each, limit));
  return conclude(tokens, std::move(found));
}

}  // namespace

RuleInfo checkInputImages() {
  RuleInfo info;
  info.name = "check-input-images";
  info.alias = "CheckInputImages";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.summary = "input images are not normalised to mean 0";
  info.details =
      "Judges inputs of four dimensions. Takes the newest recordings with at least "
      "`threshold_samples` images together.\n"
      "Fires if the magnitude of the mean of any channel is above `threshold_mean`. Saved tensors "
      "give the means of the\n"
      "channels. Otherwise the mean of all decides if it is above; if it is not, and there are "
      "several channels, the\n"
      "verdict is insufficient, because theirs may cancel out.";
  info.needs = "tensor";
  info.hint = "subtract the mean of each channel of the training data";
  info.next = {
      "sonde sql TRACE \"SELECT t.iteration, n.text, t.shape, t.mean, t.variance FROM "
      "tensor t JOIN string n ON n.id = t.name_id WHERE t.collection = 'inputs'\""};
  info.parameters = tensorParameters("inputs");
  info.parameters.push_back(
      {"threshold_mean", 0.2, "greatest healthy magnitude of a channel's mean", 0, 1e300});
  info.parameters.push_back({"threshold_samples",
                             std::int64_t{500},
                             "with fewer images the verdict is insufficient",
                             1,
                             1e9});
  info.parameters.push_back({"channel_axis", std::int64_t{1}, "axis of the channels", 1, 3});
  info.judge = ProcessJudge(judgeImages);
  return info;
}

RuleInfo nlpSequenceRatio() {
  RuleInfo info;
  info.name = "nlp-sequence-ratio";
  info.alias = "NLPSequenceRatio";
  info.profile = Profile::Ci;
  info.isOptional = true;
  info.summary = "input sequences are mostly padding";
  info.details =
      "Judges inputs of integers. Fires if the share of a token of `token_values` in the newest "
      "recording of an input is above\n"
      "its entry in `token_shares`. The share of token 0 is part of the statistics. Other tokens "
      "need "
      "`save = true` in the\n"
      "--tensors file.";
  info.needs = "tensor";
  info.hint = "put sequences of like length into a batch, or pack several into one";
  info.next = {
      "sonde sql TRACE \"SELECT t.iteration, n.text, t.zeros, t.elements FROM tensor t "
      "JOIN string n ON n.id = t.name_id WHERE t.collection = 'inputs'\""};
  info.parameters = tensorParameters("inputs");
  info.parameters.push_back(
      {"token_values", std::string("0"), "tokens to count, numbers separated by commas"});
  info.parameters.push_back(
      {"token_shares", std::string("0.5"), "the greatest healthy share of each of them"});
  info.judge = ProcessJudge(judgeTokens);
  return info;
}

}  // namespace sonde::rules
