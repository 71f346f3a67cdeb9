// The values of a pickle or a JSON text: none, bool, integer, real, text, bytes, list, tuple, dict.
// Values are shared as in the pickle, so a tree may repeat a part without storing it again.
//
// Owned by one importer, on one thread. All memory counts against a limit that is checked before
// anything is allocated.
#pragma once

#include "base/result.h"

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::ingest {

class ValueTree;

enum class ValueKind : std::uint8_t { None, Bool, Integer, Real, Text, Bytes, List, Tuple, Dict };

// A view of one value. Valid as long as its tree. Functions for other kinds return nothing: an
// unset optional, the size 0, or a value of kind None.
class Value {
 public:
  Value() = default;
  Value(const ValueTree* tree, std::uint32_t node) noexcept : tree_(tree), node_(node) {}

  ValueKind kind() const noexcept;
  bool isNone() const noexcept { return kind() == ValueKind::None; }
  bool isSequence() const noexcept;  // a list or tuple
  bool isDict() const noexcept { return kind() == ValueKind::Dict; }
  // Integers and bools; also a text that is a decimal number, as some writers quote them.
  std::optional<std::int64_t> integer() const noexcept;
  std::optional<double> real() const noexcept;  // reals and integers
  std::optional<bool> boolean() const noexcept;
  std::optional<std::string_view> text() const noexcept;

  // Elements of a list or tuple, entries of a dict.
  std::size_t size() const noexcept;
  Value at(std::size_t index) const noexcept;     // of a list or tuple
  Value key(std::size_t index) const noexcept;    // of a dict
  Value value(std::size_t index) const noexcept;  // of a dict
  // The value of a text key; of equal keys the last. None: there is no such key.
  Value find(std::string_view key) const noexcept;
  bool has(std::string_view key) const noexcept { return find(key).tree_ != nullptr; }

  // The same number for two views of the same shared value.
  std::uint32_t identity() const noexcept { return node_; }

 private:
  const ValueTree* tree_ = nullptr;
  std::uint32_t node_ = 0;
};

class ValueTree {
 public:
  using Node = std::uint32_t;
  static constexpr std::size_t kMostDepth = 1000;

  // `content`: the file's bytes, which texts refer to. `limit`: bytes that the tree may use besides
  // them.
  ValueTree(std::string content, std::uint64_t limit);

  std::string_view content() const noexcept { return *content_; }
  Value root() const noexcept { return {this, root_}; }
  void setRoot(Node node) noexcept { root_ = node; }

  // Functions that add values return kFull when the limit is reached.
  static constexpr Node kFull = std::numeric_limits<Node>::max();
  // None and bools are stored once.
  Node addNone();
  Node addBool(bool value);
  Node addInteger(std::int64_t value);
  Node addReal(double value);
  // `text`: part of content(), or copied by keep().
  Node addText(std::string_view text, ValueKind kind = ValueKind::Text);
  Node addContainer(ValueKind kind);
  // Keeps a text that is not part of content(). Unset: the limit is reached.
  std::optional<std::string_view> keep(std::string text);
  // Adds an element to a list or tuple, or a key or value to a dict. False: the limit is reached.
  bool append(Node container, Node element);
  ValueKind kindOf(Node node) const noexcept { return nodes_[node].kind; }
  std::size_t lengthOf(Node container) const noexcept;  // elements, or keys and values
  // Whether `bytes` more fit into the limit; counts them if so.
  bool reserve(std::uint64_t bytes) noexcept;

  // Refuses a value that contains itself and one deeper than kMostDepth. Each shared value is
  // visited once. Unset: the tree is sound.
  std::optional<std::string_view> findFault() const;

 private:
  friend class Value;
  struct Stored {
    ValueKind kind = ValueKind::None;
    std::uint32_t container = 0;  // index of a list's, tuple's or dict's elements
    union {
      std::int64_t integer;
      double real;
      struct {
        const char* data;
      } text;
    } as{};
    std::uint64_t length = 0;  // of a text
  };

  Node add(const Stored& node);
  const Stored& stored(Node node) const noexcept { return nodes_[node]; }
  const std::vector<Node>& elements(Node node) const noexcept {
    return containers_[nodes_[node].container];
  }

  std::unique_ptr<const std::string> content_;  // its place stays when the tree moves
  std::uint64_t limit_;
  std::uint64_t used_ = 0;
  std::deque<Stored> nodes_;
  std::deque<std::vector<Node>> containers_;
  std::deque<std::string> texts_;
  std::array<Node, 3> constants_{kFull, kFull, kFull};  // None, False, True
  Node root_ = 0;
};

}  // namespace sonde::ingest
