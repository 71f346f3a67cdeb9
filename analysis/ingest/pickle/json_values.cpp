#include "analysis/ingest/pickle/json_values.h"

#include "analysis/ingest/pickle/pickle_reader.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::ingest {
namespace {

// Puts the parser's events into a tree. Functions return false to stop the parser.
class TreeFiller : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeFiller(ValueTree& tree) : tree_(tree) {}

  bool null() override { return put(tree_.addNone()); }
  bool boolean(bool value) override { return put(tree_.addBool(value)); }
  bool number_integer(number_integer_t value) override { return put(tree_.addInteger(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    return value > INT64_MAX ? put(tree_.addReal(static_cast<double>(value)))
                             : put(tree_.addInteger(static_cast<std::int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t&) override {
    return put(tree_.addReal(value));
  }
  bool string(string_t& text) override { return put(keep(text)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(ValueKind::Dict); }
  bool key(string_t& text) override {
    const ValueTree::Node node = keep(text);
    return node != ValueTree::kFull && tree_.append(path_.back(), node);
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(ValueKind::List); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position,
                   const std::string&,
                   const nlohmann::detail::exception&) override {
    errorAt = position;
    return false;
  }

  std::optional<std::size_t> errorAt;
  bool isTooDeep = false;

 private:
  ValueTree::Node keep(std::string& text) {
    const auto kept = tree_.keep(std::move(text));
    return kept ? tree_.addText(*kept) : ValueTree::kFull;
  }
  bool put(ValueTree::Node node) {
    if (node == ValueTree::kFull)
      return false;
    if (!path_.empty())
      return tree_.append(path_.back(), node);
    tree_.setRoot(node);
    return true;
  }
  bool open(ValueKind kind) {
    isTooDeep = path_.size() >= ValueTree::kMostDepth;
    const ValueTree::Node node = isTooDeep ? ValueTree::kFull : tree_.addContainer(kind);
    if (!put(node))
      return false;
    path_.push_back(node);
    return true;
  }
  bool close() {
    path_.pop_back();
    return true;
  }

  ValueTree& tree_;
  std::vector<ValueTree::Node> path_;
};

}  // namespace

Result<ValueTree> readJsonValues(std::string bytes, const std::filesystem::path& file) {
  const std::uint64_t limit = memoryForValues(bytes.size());
  ValueTree tree(std::move(bytes), limit);
  TreeFiller filler(tree);
  if (nlohmann::json::sax_parse(tree.content(), &filler))
    return tree;
  const std::string name = file.string();
  if (filler.errorAt)
    return Error{
        ErrorCode::Corrupt,
        fmt::format("'{}': the JSON text is invalid at byte {}: was the file copied whole?",
                    name,
                    *filler.errorAt)};
  return Error{ErrorCode::Corrupt,
               filler.isTooDeep
                   ? fmt::format("'{}': the JSON text is nested more than 1000 deep: give the file "
                                 "as PyTorch wrote it",
                                 name)
                   : fmt::format("'{}' needs more memory than Sonde grants a file of this size: "
                                 "give a dump with fewer entries",
                                 name)};
}

}  // namespace sonde::ingest
