// Times by path, as a tree whose nodes are paths that were asked for and those where they part: a
// path takes a node, and 4 bytes for each frame that it adds to the one it hangs from. Each frame's
// text is kept once. A plain value; one thread.
#pragma once

#include "analysis/export/output_file.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sonde::exports {

// What a name is as one frame: what separates frames or lines would make two of it.
std::string frameText(std::string_view name);

class PathTree {
 public:
  using Frame = std::uint32_t;
  using Path = std::uint32_t;
  static constexpr Path kRoot = 0;  // of no frames

  Frame frameOf(std::string_view text);
  // The path of these frames below `parent`. One path has one number.
  Path pathOf(Path parent, std::span<const Frame> frames);
  void add(Path path, std::int64_t ns) { nodes_[path].ns += ns; }
  std::size_t nodes() const noexcept { return nodes_.size(); }

  // A frame of each path, with the time that was in it and in what hangs below: what a flame graph
  // draws.
  struct Box {
    Frame frame;
    std::uint32_t depth;   // 0: below the root
    std::int64_t beginNs;  // behind its earlier siblings, in its parent
    std::int64_t ns;
  };
  // Parents first, children in alphabetical order, before what a path has of its own.
  std::vector<Box> boxes() const;
  const std::string& textOf(Frame frame) const noexcept { return *texts_[frame]; }

  // A line "frame;frame 1234" for each path that has time: parents first, children in alphabetical
  // order.
  Result<void> write(OutputFile& output) const;

 private:
  struct Node {
    Path parent = kRoot;
    std::uint32_t frames = 0;  // that it adds to its parent's: one or more, but for the root
    std::size_t first = 0;     // in labels_
    std::int64_t ns = 0;
  };

  Path newNode(Path parent, std::span<const Frame> frames);
  Path split(Path path, std::size_t frames);
  std::span<const Frame> labelOf(const Node& node) const noexcept {
    return {labels_.data() + node.first, node.frames};
  }
  static std::uint64_t keyOf(Path parent, Frame first) noexcept {
    return (std::uint64_t{parent} << 32U) | first;
  }
  // All but the root, parents before their children, these in alphabetical order.
  std::vector<Path> inOrder() const;

  std::map<std::string, Frame, std::less<>> frames_;
  std::vector<const std::string*> texts_;             // by frame; keys of frames_
  std::vector<Node> nodes_{1};                        // by path
  std::vector<Frame> labels_;                         // of the nodes
  std::unordered_map<std::uint64_t, Path> children_;  // by parent and first frame
};

}  // namespace sonde::exports
