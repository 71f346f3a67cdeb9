#include "analysis/ingest/pickle/value_tree.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace sonde::ingest {

ValueKind Value::kind() const noexcept {
  return tree_ == nullptr ? ValueKind::None : tree_->stored(node_).kind;
}

bool Value::isSequence() const noexcept {
  return kind() == ValueKind::List || kind() == ValueKind::Tuple;
}

std::optional<std::int64_t> Value::integer() const noexcept {
  if (kind() == ValueKind::Integer || kind() == ValueKind::Bool)
    return tree_->stored(node_).as.integer;
  const auto digits = text();
  if (!digits || digits->empty())
    return {};
  std::int64_t number = 0;
  const char* const last = digits->data() + digits->size();
  const auto [end, error] = std::from_chars(digits->data(), last, number);
  return error == std::errc{} && end == last ? std::optional(number) : std::nullopt;
}

std::optional<double> Value::real() const noexcept {
  if (kind() == ValueKind::Real)
    return tree_->stored(node_).as.real;
  if (kind() == ValueKind::Integer)
    return static_cast<double>(tree_->stored(node_).as.integer);
  return {};
}

std::optional<bool> Value::boolean() const noexcept {
  if (kind() == ValueKind::Bool)
    return tree_->stored(node_).as.integer != 0;
  return {};
}

std::optional<std::string_view> Value::text() const noexcept {
  if (kind() != ValueKind::Text)
    return {};
  const auto& stored = tree_->stored(node_);
  return std::string_view(stored.as.text.data, stored.length);
}

std::size_t Value::size() const noexcept {
  if (isSequence())
    return tree_->elements(node_).size();
  return isDict() ? tree_->elements(node_).size() / 2 : 0;
}

Value Value::at(std::size_t index) const noexcept {
  return isSequence() && index < size() ? Value(tree_, tree_->elements(node_)[index]) : Value();
}

Value Value::key(std::size_t index) const noexcept {
  return isDict() && index < size() ? Value(tree_, tree_->elements(node_)[2 * index]) : Value();
}

Value Value::value(std::size_t index) const noexcept {
  return isDict() && index < size() ? Value(tree_, tree_->elements(node_)[2 * index + 1]) : Value();
}

Value Value::find(std::string_view wanted) const noexcept {
  for (std::size_t index = isDict() ? size() : 0; index > 0; --index)
    if (key(index - 1).text() == wanted)
      return value(index - 1);
  return {};
}

ValueTree::ValueTree(std::string content, std::uint64_t limit)
    : content_(std::make_unique<const std::string>(std::move(content))), limit_(limit) {}

bool ValueTree::reserve(std::uint64_t bytes) noexcept {
  if (bytes > limit_ - used_)
    return false;
  used_ += bytes;
  return true;
}

ValueTree::Node ValueTree::add(const Stored& node) {
  if (nodes_.size() >= kFull || !reserve(sizeof(Stored)))
    return kFull;
  nodes_.push_back(node);
  return static_cast<Node>(nodes_.size() - 1);
}

ValueTree::Node ValueTree::addNone() {
  if (constants_[0] == kFull)
    constants_[0] = add({ValueKind::None, 0, {}, 0});
  return constants_[0];
}

ValueTree::Node ValueTree::addBool(bool value) {
  Node& known = constants_[value ? 2 : 1];
  if (known == kFull) {
    Stored node{ValueKind::Bool, 0, {}, 0};
    node.as.integer = value ? 1 : 0;
    known = add(node);
  }
  return known;
}

ValueTree::Node ValueTree::addInteger(std::int64_t value) {
  Stored node{ValueKind::Integer, 0, {}, 0};
  node.as.integer = value;
  return add(node);
}

ValueTree::Node ValueTree::addReal(double value) {
  Stored node{ValueKind::Real, 0, {}, 0};
  node.as.real = value;
  return add(node);
}

ValueTree::Node ValueTree::addText(std::string_view text, ValueKind kind) {
  Stored node{kind, 0, {}, text.size()};
  node.as.text.data = text.data();
  return add(node);
}

ValueTree::Node ValueTree::addContainer(ValueKind kind) {
  constexpr std::uint64_t kOwn = 2 * sizeof(std::vector<Node>);
  if (!reserve(kOwn))
    return kFull;
  containers_.emplace_back();
  return add({kind, static_cast<std::uint32_t>(containers_.size() - 1), {}, 0});
}

std::optional<std::string_view> ValueTree::keep(std::string text) {
  if (!reserve(text.capacity() + 2 * sizeof(std::string)))
    return {};
  return texts_.emplace_back(std::move(text));
}

bool ValueTree::append(Node container, Node element) {
  constexpr std::uint64_t kGrowth = 4;  // also the heap's own part of a small vector
  if (!reserve(kGrowth * sizeof(Node)))
    return false;
  containers_[nodes_[container].container].push_back(element);
  return true;
}

std::size_t ValueTree::lengthOf(Node container) const noexcept {
  return nodes_[container].kind < ValueKind::List ? 0 : elements(container).size();
}

std::optional<std::string_view> ValueTree::findFault() const {
  enum : std::uint32_t { kNew = 0, kOpen = UINT32_MAX };
  if (nodes_.empty() || kindOf(root_) < ValueKind::List)
    return {};
  // By container: kNew, kOpen while it is on the path, else its height.
  std::vector<std::uint32_t> heights(containers_.size(), kNew);
  struct Step {
    Node node;
    std::size_t next;
    std::uint32_t height;
  };
  std::vector<Step> path{{root_, 0, 1}};
  heights[nodes_[root_].container] = kOpen;
  while (!path.empty()) {
    Step& step = path.back();
    if (step.next == elements(step.node).size()) {
      const std::uint32_t height = step.height;
      heights[nodes_[step.node].container] = height;
      path.pop_back();
      if (!path.empty())
        path.back().height = std::max(path.back().height, height + 1);
      if (height > kMostDepth)
        return "is nested more than 1000 deep";
      continue;
    }
    const Node child = elements(step.node)[step.next++];
    if (kindOf(child) < ValueKind::List)
      continue;
    const std::uint32_t known = heights[nodes_[child].container];
    if (known == kOpen)
      return "contains itself";
    if (known != kNew) {
      step.height = std::max(step.height, known + 1);
      continue;
    }
    if (path.size() >= kMostDepth)
      return "is nested more than 1000 deep";
    heights[nodes_[child].container] = kOpen;
    path.push_back({child, 0, 1});
  }
  return {};
}

}  // namespace sonde::ingest
