#include "analysis/ingest/pickle/pickle_stack.h"

#include <fmt/format.h>

namespace sonde::ingest {
namespace {

constexpr std::uint64_t kStackEntry = 3 * sizeof(std::uint32_t);  // with the growth of a vector
constexpr std::uint64_t kMark = 3 * sizeof(std::size_t);
constexpr std::uint64_t kFarEntry = 64;

}  // namespace

Result<void> PickleStack::push(Node node) {
  const bool isHigher = stack_.size() == mostNodes_;
  if (node == ValueTree::kFull || (isHigher && !tree_.reserve(kStackEntry)))
    return input_.failed("needs more memory than Sonde grants a file of this size",
                         "give a dump with fewer entries");
  stack_.push_back(node);
  mostNodes_ += isHigher ? 1 : 0;
  return {};
}

Result<PickleStack::Node> PickleStack::top() const {
  if (stack_.size() <= floor())
    return input_.damaged("needs a value, but there is none");
  return stack_.back();
}

Result<PickleStack::Node> PickleStack::pop() {
  SONDE_TRY_ASSIGN(const Node node, top());
  stack_.pop_back();
  return node;
}

Result<std::size_t> PickleStack::popMark() {
  if (marks_.empty())
    return input_.damaged("needs a mark, but there is none");
  const std::size_t begin = marks_.back();
  marks_.pop_back();
  return begin;
}

Result<void> PickleStack::remember(std::uint64_t index) {
  SONDE_TRY_ASSIGN(const Node node, top());
  const bool isNext = index == memo_.size();
  if (!tree_.reserve(isNext ? kStackEntry : kFarEntry))
    return push(ValueTree::kFull);
  if (index < memo_.size())
    memo_[index] = node;
  else if (isNext)
    memo_.push_back(node);
  else
    farMemo_[index] = node;
  return {};
}

Result<void> PickleStack::recall(std::uint64_t index) {
  if (index < memo_.size())
    return push(memo_[index]);
  const auto found = farMemo_.find(index);
  if (found == farMemo_.end())
    return input_.damaged(fmt::format("refers to value {}, which does not exist", index));
  return push(found->second);
}

Result<void> PickleStack::moveInto(Node container, std::size_t begin) {
  for (std::size_t at = begin; at < stack_.size(); ++at)
    if (!tree_.append(container, stack_[at]))
      return push(ValueTree::kFull);
  stack_.resize(begin);
  return {};
}

Result<void> PickleStack::makeFromMark(ValueKind kind) {
  SONDE_TRY_ASSIGN(const std::size_t begin, popMark());
  if (kind == ValueKind::Dict && (stack_.size() - begin) % 2 != 0)
    return input_.damaged("has a key without a value");
  const Node container = tree_.addContainer(kind);
  if (container != ValueTree::kFull)
    SONDE_TRY(moveInto(container, begin));
  return push(container);
}

Result<void> PickleStack::makeTuple(std::size_t size) {
  if (stack_.size() - floor() < size)
    return input_.damaged("needs more values than there are");
  const Node tuple = tree_.addContainer(ValueKind::Tuple);
  if (tuple != ValueTree::kFull)
    SONDE_TRY(moveInto(tuple, stack_.size() - size));
  return push(tuple);
}

Result<void> PickleStack::mark() {
  const bool isHigher = marks_.size() == mostMarks_;
  if (isHigher && !tree_.reserve(kMark))
    return push(ValueTree::kFull);
  mostMarks_ += isHigher ? 1 : 0;
  marks_.push_back(stack_.size());
  return {};
}

Result<void> PickleStack::drop() {
  if (!marks_.empty() && stack_.size() == marks_.back()) {
    marks_.pop_back();
    return {};
  }
  SONDE_TRY(pop());
  return {};
}

Result<void> PickleStack::dropToMark() {
  SONDE_TRY_ASSIGN(const std::size_t begin, popMark());
  stack_.resize(begin);
  return {};
}

// Adds the values from `begin` on to the container below them.
Result<void> PickleStack::addTo(std::size_t begin, ValueKind kind) {
  if (begin <= floor() || tree_.kindOf(stack_[begin - 1]) != kind)
    return input_.damaged(
        fmt::format("needs a {}, but there is none", kind == ValueKind::Dict ? "dict" : "list"));
  return moveInto(stack_[begin - 1], begin);
}

Result<void> PickleStack::addFromMark(ValueKind kind) {
  SONDE_TRY_ASSIGN(const std::size_t begin, popMark());
  if (kind == ValueKind::Dict && (stack_.size() - begin) % 2 != 0)
    return input_.damaged("has a key without a value");
  return addTo(begin, kind);
}

Result<void> PickleStack::addLast(std::size_t size, ValueKind kind) {
  if (stack_.size() - floor() < size)
    return input_.damaged("needs more values than there are");
  return addTo(stack_.size() - size, kind);
}

}  // namespace sonde::ingest
