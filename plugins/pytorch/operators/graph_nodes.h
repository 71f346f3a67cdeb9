// Which node of autograd's graph an operator creates, and to which one a backward function belongs:
// two words of at::RecordFunction, whose positions depend on the version. A few operators with
// known nodes show the positions. They are proved if exactly one position fits for each.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>

namespace sonde::torch {

class GraphNodes {
 public:
  // `function` has the number `node` and `forwardThread`: 0 for an operator; for a backward
  // function the thread that created its node.
  void learn(const void* function, std::uint64_t node, std::uint64_t forwardThread) noexcept {
    for (std::size_t at = 0; at < kWords; ++at) {
      nodes_[at] = nodes_[at] && word(function, at) == node;
      threads_[at] = threads_[at] && word(function, at) == forwardThread;
    }
  }
  // Call the queries below only after this has returned true.
  bool settle() noexcept {
    nodeAt_ = first(nodes_);
    threadAt_ = first(threads_);
    return nodes_.count() == 1 && threads_.count() == 1;
  }

  // PyTorch numbers nodes per thread. The returned names are unique in the process; 0: none.
  // madeBy(): the node that an operator creates, if it creates one: the next one of its thread.
  std::int64_t madeBy(const void* function, std::uint64_t thread) const noexcept {
    return nameOf(word(function, nodeAt_), thread);
  }
  std::int64_t backwardOf(const void* function) const noexcept {
    return nameOf(word(function, nodeAt_), word(function, threadAt_));
  }

 private:
  // A RecordFunction is at least this long in every version.
  static constexpr std::size_t kWords = 40;
  using Places = std::bitset<kWords>;
  static constexpr unsigned kNumberBits = 44;

  static std::uint64_t word(const void* function, std::size_t at) noexcept {
    return (*static_cast<const std::array<std::uint64_t, kWords>*>(function))[at];
  }
  static std::int64_t nameOf(std::uint64_t number, std::uint64_t thread) noexcept {
    const bool isNode = number >> kNumberBits == 0;  // the word is -1 with gradients off
    return isNode ? static_cast<std::int64_t>((thread << kNumberBits) | number) : 0;
  }
  static std::size_t first(const Places& places) noexcept {
    std::size_t at = 0;
    while (at + 1 < kWords && !places[at])
      ++at;
    return at;
  }

  Places nodes_ = ~Places();
  Places threads_ = ~Places();
  std::size_t nodeAt_ = 0;
  std::size_t threadAt_ = 0;
};

}  // namespace sonde::torch
