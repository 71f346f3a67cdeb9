// A value in a JSON document, with its path for messages: strict reading of a file that another
// command wrote. Plain values; any thread.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace sonde::rules {

// All errors are Corrupt: "FILE: $.runs[0].ranks: must be …, not …". Requires: file and document
// outlive it.
class JsonPlace {
 public:
  // `action`: of `sonde baseline`, that writes such files.
  JsonPlace(const std::string& file, const nlohmann::json& document, std::string_view action)
      : file_(&file), action_(action), value_(&document), path_("$") {}

  // A member of an object. Refuses an object without it.
  Result<JsonPlace> member(const std::string& key) const;
  // An element of an array. Requires: `index` is below size().
  JsonPlace element(std::size_t index) const;
  // Refuses what is no object, or has other members than these.
  Result<void> onlyHas(std::initializer_list<std::string_view> keys) const;

  // Refuses other types, and what is out of bounds.
  Result<std::size_t> size(std::size_t least, std::size_t most) const;
  Result<std::int64_t> whole(std::int64_t least, std::int64_t most) const;
  Result<double> number(double least, double most) const;
  Result<std::string> text(std::size_t most) const;
  Result<bool> flag() const;
  bool isNull() const { return value_->is_null(); }

  Error refuse(std::string_view expected) const;

 private:
  JsonPlace(const JsonPlace& parent, const nlohmann::json& value, std::string_view step);

  const std::string* file_;
  std::string_view action_;
  const nlohmann::json* value_;
  std::string path_;
};

}  // namespace sonde::rules
