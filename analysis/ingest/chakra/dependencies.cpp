#include "analysis/ingest/chakra/dependencies.h"

#include <tuple>

namespace sonde::ingest {
namespace {

constexpr std::size_t kInMemory = 300'000;  // 12 MB

}  // namespace

bool Dependencies::NodeOrder::operator()(const Node& a, const Node& b) const noexcept {
  return std::tie(a.id, a.order) < std::tie(b.id, b.order);
}
bool Dependencies::DependencyOrder::operator()(const Dependency& a,
                                               const Dependency& b) const noexcept {
  return std::tie(a.on, a.of.owner, a.of.id, a.kind) < std::tie(b.on, b.of.owner, b.of.id, b.kind);
}

Dependencies::Dependencies(const std::filesystem::path& folder)
    : nodes_(folder, kInMemory), dependencies_(folder, kInMemory) {}

Result<void> Dependencies::addNode(std::uint64_t node, const Row& row) {
  return nodes_.add({node, count_++, row});
}

Result<void> Dependencies::add(Kind kind, std::uint64_t on, const Row& of) {
  return dependencies_.add({on, of, kind});
}

// Advances to the next node with another id.
Result<void> Dependencies::advance() {
  const bool had = hasNode_;
  const std::uint64_t before = node_.id;
  for (;;) {
    SONDE_TRY_ASSIGN(hasNode_, nodes_.next(node_));
    if (!hasNode_ || !had || node_.id != before)
      return {};
    ++repeated_;
  }
}

// Makes a link from the node that finish() has reached.
model::Link Dependencies::linkOf(const Dependency& dependency) const {
  model::Link link;
  link.kind = dependency.kind == Kind::Control ? "control-dependency" : "data-dependency";
  link.fromOwner = node_.row.owner;
  link.fromId = node_.row.id;
  link.toOwner = dependency.of.owner;
  link.toId = dependency.of.id;
  return link;
}

Result<void> Dependencies::finish(store::TraceWriter& writer) {
  SONDE_TRY(nodes_.sort());
  SONDE_TRY(dependencies_.sort());
  SONDE_TRY(advance());
  for (Dependency each{};;) {
    SONDE_TRY_ASSIGN(const bool more, dependencies_.next(each));
    if (!more)
      break;
    while (hasNode_ && node_.id < each.on)
      SONDE_TRY(advance());
    const bool isThere = hasNode_ && node_.id == each.on;
    const bool isItself = isThere && node_.row.owner == each.of.owner && node_.row.id == each.of.id;
    dangling_ += isThere ? 0 : 1;
    circular_ += isItself ? 1 : 0;
    if (isThere && !isItself && node_.row.id != 0)
      SONDE_TRY(writer.add(linkOf(each)));
  }
  while (hasNode_)
    SONDE_TRY(advance());
  return {};
}

}  // namespace sonde::ingest
