// The stack, marks and memo of a pickle. Used by readPickle() only, on its thread. All functions
// fail with an error of PickleInput.
#pragma once

#include "analysis/ingest/pickle/pickle_input.h"
#include "analysis/ingest/pickle/value_tree.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sonde::ingest {

class PickleStack {
 public:
  using Node = ValueTree::Node;

  PickleStack(ValueTree& tree, const PickleInput& input) : tree_(tree), input_(input) {}

  // kFull: the error that the memory limit is reached.
  Result<void> push(Node node);
  Result<Node> pop();
  Result<Node> top() const;
  bool isEmpty() const noexcept { return stack_.empty() && marks_.empty(); }

  Result<void> mark();
  Result<void> dropToMark();
  Result<void> drop();  // a value or, on top of the stack, a mark

  // Makes a list, tuple or dict of the values above the last mark, or of the last `size` values.
  Result<void> makeFromMark(ValueKind kind);
  Result<void> makeTuple(std::size_t size);
  // Adds the values above the last mark, or the last `size` values, to the container below them.
  Result<void> addFromMark(ValueKind kind);
  Result<void> addLast(std::size_t size, ValueKind kind);

  Result<void> remember(std::uint64_t index);
  Result<void> rememberNext() { return remember(memo_.size() + farMemo_.size()); }
  Result<void> recall(std::uint64_t index);

 private:
  std::size_t floor() const noexcept { return marks_.empty() ? 0 : marks_.back(); }
  Result<std::size_t> popMark();
  Result<void> addTo(std::size_t begin, ValueKind kind);
  Result<void> moveInto(Node container, std::size_t begin);

  ValueTree& tree_;
  const PickleInput& input_;
  std::vector<Node> stack_;
  std::vector<std::size_t> marks_;                   // stack sizes
  std::size_t mostNodes_ = 0;                        // for which memory is reserved
  std::size_t mostMarks_ = 0;                        // the same
  std::vector<Node> memo_;                           // of indices without gaps
  std::unordered_map<std::uint64_t, Node> farMemo_;  // of all others
};

}  // namespace sonde::ingest
