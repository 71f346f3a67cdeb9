// Parses `NAME[,key=value…]` and `key=value[,key=value…]`. Plain functions; any thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sonde::questions {

using NamedValues = std::map<std::string, std::string>;

// A value with a comma is in double quotes, in which a backslash protects the next character.
// InvalidArgument: another form, or the same key twice.
Result<NamedValues> parseNamedValues(std::string_view text);

struct Asked {
  std::string name;
  NamedValues values;
};
// InvalidArgument: another form.
Result<Asked> parseAsked(std::string_view text);

// InvalidArgument: it is not one, or below 1.
Result<std::int64_t> wholeNumber(const std::string& text);

// A number, with or without "%". InvalidArgument: another form; the message names the key.
Result<double> settingNumber(const std::string& key, std::string value);

// The question needs a value of `key`, as in `example`.
Error missingKey(const std::string& question, const std::string& key, const std::string& example);

// `keys`: those that the question has, for people.
Error unknownKey(const std::string& question, const std::string& key, const char* keys);

}  // namespace sonde::questions
