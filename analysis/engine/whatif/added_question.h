// Questions that Sonde does not have itself, such as those of plugins. Plain values; any thread.
#pragma once

#include "analysis/engine/whatif/question.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::whatif {

enum class SettingType : std::uint8_t {
  Number,
  Fraction,  // from 0 to 1
  Time,      // in ns
  Size,      // in bytes
  Text,
};

struct AddedSetting {
  std::string key;
  std::string help;
  SettingType type = SettingType::Number;
  std::optional<std::string> fallback;  // nullopt: the setting is required
};

struct SettingValue {
  std::string text;
  double number = 0;  // 0 of a text
  bool isGiven = false;
};

// Settings that an optimiser should try.
struct Candidate {
  std::string settings;  // "hit=0.5,hit_time=1ms"
  std::string advice;    // one line, for people
};

struct AddedQuestion {
  std::string name;
  std::string help;    // continues "the job then"
  std::string origin;  // where it is from, for people: "plugin cache 1.0"
  std::vector<AddedSetting> settings;
  std::vector<Candidate> candidates;
  // Requires: a value for each of `settings`, in their order.
  std::function<Question(std::vector<SettingValue> values)> make;
};

}  // namespace sonde::engine::whatif
