#include "analysis/engine/models/kernels/operator_inputs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

namespace sonde::engine::models {
namespace {

class ShapeReader {
 public:
  explicit ShapeReader(std::string_view text) : text_(text) {}

  std::optional<std::vector<OperatorInput>> inputs() {
    std::vector<OperatorInput> found;
    if (!take('['))
      return std::nullopt;
    while (!take(']')) {
      if (!input(found.emplace_back()))
        return std::nullopt;
      take(',');
    }
    return found;
  }

 private:
  bool input(OperatorInput& into) {
    if (!take('['))
      return false;
    Sizes sizes;
    bool isList = false;
    while (!take(']')) {
      if (peek() == '[') {
        isList = true;
        OperatorInput inner;
        if (!input(inner))
          return false;
        into.tensors.insert(into.tensors.end(), inner.tensors.begin(), inner.tensors.end());
      } else if (!number(sizes.emplace_back())) {
        return false;
      }
      take(',');
    }
    if (!isList)
      into.tensors.push_back(std::move(sizes));
    return true;
  }

  bool number(std::int64_t& value) {
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc())
      return false;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return true;
  }
  char peek() {
    while (!text_.empty() && text_.front() == ' ')
      text_.remove_prefix(1);
    return text_.empty() ? '\0' : text_.front();
  }
  bool take(char expected) {
    if (peek() != expected)
      return false;
    text_.remove_prefix(1);
    return true;
  }

  std::string_view text_;
};

// A list of types has that of its first element.
std::string firstType(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" [\""), text.size()));
  return std::string(text.substr(0, text.find_first_of(",]\"")));
}

std::optional<std::vector<std::string>> readTypes(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']'))
    return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<std::string> found;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    depth += text[at] == '[' ? 1 : 0;
    depth -= text[at] == ']' ? 1 : 0;
    if (text[at] != ',' || depth > 0)
      continue;
    found.push_back(firstType(text.substr(begin, at - begin)));
    begin = at + 1;
  }
  if (!text.empty())
    found.push_back(firstType(text.substr(begin)));
  return found;
}

}  // namespace

std::optional<std::vector<OperatorInput>> parseInputs(std::string_view shapes,
                                                      std::string_view types) {
  auto found = ShapeReader(shapes).inputs();
  const auto names = readTypes(types);
  if (!found || !names || names->size() != found->size())
    return std::nullopt;
  for (std::size_t at = 0; at < found->size(); ++at)
    (*found)[at].type = (*names)[at];
  return found;
}

double elementsOf(const Sizes& sizes) noexcept {
  double count = 1;
  for (const std::int64_t each : sizes)
    count *= static_cast<double>(each);
  return count;
}

double bytesOfType(std::string_view type) noexcept {
  constexpr std::array<std::pair<std::string_view, double>, 19> kTypes = {
      {{"float", 4},
       {"c10::BFloat16", 2},
       {"c10::Half", 2},
       {"double", 8},
       {"long int", 8},
       {"long", 8},
       {"int", 4},
       {"bool", 1},
       {"unsigned char", 1},
       {"signed char", 1},
       {"short", 2},
       {"short int", 2},
       {"c10::Float8_e4m3fn", 1},
       {"c10::Float8_e5m2", 1},
       {"c10::Float8_e4m3fnuz", 1},
       {"c10::Float8_e5m2fnuz", 1},
       {"c10::complex<float>", 8},
       {"c10::complex<double>", 16},
       {"c10::qint8", 1}}};
  for (const auto& [name, bytes] : kTypes)
    if (name == type)
      return bytes;
  return 0;
}

}  // namespace sonde::engine::models
