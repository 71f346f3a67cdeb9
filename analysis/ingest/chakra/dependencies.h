// Turns the dependencies between an execution trace's nodes into links. Nodes may refer to later
// ones. Staged by id, so memory does not grow with the trace. Owned by one importer, on one thread.
#pragma once

#include "analysis/ingest/input/external_sorter.h"
#include "analysis/model/event.h"
#include "analysis/model/words.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>

namespace sonde::ingest {

class Dependencies {
 public:
  enum class Kind : std::uint8_t { Control, Data };
  // The row of a node; 0: none.
  struct Row {
    model::Owner owner = model::Owner::Slice;
    std::int64_t id = 0;
  };

  // Intermediate data goes to files in `folder`.
  explicit Dependencies(const std::filesystem::path& folder);

  Result<void> addNode(std::uint64_t node, const Row& row);
  Result<void> add(Kind kind, std::uint64_t on, const Row& of);

  // Stores a link for each dependency between nodes with rows. Requires: an open transaction.
  Result<void> finish(store::TraceWriter& writer);

  // After finish(): the number of dependencies on missing nodes, of nodes on themselves, and of
  // nodes with a duplicate id.
  std::uint64_t dangling() const noexcept { return dangling_; }
  std::uint64_t circular() const noexcept { return circular_; }
  std::uint64_t repeated() const noexcept { return repeated_; }

 private:
  struct Node {
    std::uint64_t id;
    std::int64_t order;
    Row row;
  };
  struct NodeOrder {
    bool operator()(const Node& a, const Node& b) const noexcept;
  };
  struct Dependency {
    std::uint64_t on;
    Row of;
    Kind kind;
  };
  struct DependencyOrder {
    bool operator()(const Dependency& a, const Dependency& b) const noexcept;
  };

  Result<void> advance();
  model::Link linkOf(const Dependency& dependency) const;

  ExternalSorter<Node, NodeOrder> nodes_;
  ExternalSorter<Dependency, DependencyOrder> dependencies_;
  std::int64_t count_ = 0;
  Node node_{};  // that finish() has reached
  bool hasNode_ = false;
  std::uint64_t dangling_ = 0;
  std::uint64_t circular_ = 0;
  std::uint64_t repeated_ = 0;
};

}  // namespace sonde::ingest
