// Times by path, as a tree: a path takes room for the frame that it adds to its parent's, and each
// frame's text is kept once. A plain value; one thread.
#pragma once

#include "analysis/base/result.h"
#include "analysis/export/output_file.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sonde::exports {

class PathTree {
 public:
  using Frame = std::uint32_t;
  using Path = std::uint32_t;
  static constexpr Path kRoot = 0;  // of no frames

  Frame frameOf(std::string_view text);
  Path pathOf(Path parent, Frame frame);
  void add(Path path, std::int64_t ns) { nodes_[path].ns += ns; }

  // A line "frame;frame 1234" for each path that has time: parents first, children in alphabetical
  // order.
  Result<void> write(OutputFile& output) const;

 private:
  struct Node {
    Path parent = kRoot;
    Frame frame = 0;
    std::int64_t ns = 0;
  };

  // Those that have a parent, the children of each in the reverse of their order.
  std::vector<Path> byParent() const;

  std::map<std::string, Frame, std::less<>> frames_;
  std::vector<const std::string*> texts_;             // by frame; keys of frames_
  std::vector<Node> nodes_{1};                        // by path
  std::unordered_map<std::uint64_t, Path> children_;  // by parent and frame
};

}  // namespace sonde::exports
