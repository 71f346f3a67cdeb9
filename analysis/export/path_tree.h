// Times by path, as a tree. Its nodes are the requested paths and the points where paths diverge. A
// path takes one node, and 4 bytes for each frame beyond its parent. Each frame's text is stored
// once. A plain value; one thread.
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

// A name as the text of one frame; replaces characters that separate frames or lines.
std::string frameText(std::string_view name);

class PathTree {
 public:
  using Frame = std::uint32_t;
  using Path = std::uint32_t;
  static constexpr Path kRoot = 0;  // has no frames

  Frame frameOf(std::string_view text);
  // The path of these frames below `parent`. Equal paths have equal numbers.
  Path pathOf(Path parent, std::span<const Frame> frames);
  void add(Path path, std::int64_t ns) { nodes_[path].ns += ns; }
  std::size_t nodes() const noexcept { return nodes_.size(); }

  // One rectangle of a flame graph: a frame of a path, with the time in it and below it.
  struct Box {
    Frame frame;
    std::uint32_t depth;   // 0: below the root
    std::int64_t beginNs;  // relative order in the parent: after its earlier siblings
    std::int64_t ns;
  };
  // Parents first; children alphabetical, before the path's own time.
  std::vector<Box> boxes() const;
  const std::string& textOf(Frame frame) const noexcept { return *texts_[frame]; }

  // Writes a line "frame;frame 1234" for each path with time: parents first, children alphabetical.
  Result<void> write(OutputFile& output) const;

 private:
  struct Node {
    Path parent = kRoot;
    std::uint32_t frames = 0;  // beyond its parent's: at least one, except for the root
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
  // All paths except the root: parents before children, children alphabetical.
  std::vector<Path> inOrder() const;

  std::map<std::string, Frame, std::less<>> frames_;
  std::vector<const std::string*> texts_;             // by frame; keys of frames_
  std::vector<Node> nodes_{1};                        // by path
  std::vector<Frame> labels_;                         // of the nodes
  std::unordered_map<std::uint64_t, Path> children_;  // by parent and first frame
};

}  // namespace sonde::exports
