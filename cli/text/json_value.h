// Optional values as JSON; unset is null. Pure functions.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace sonde::cli {

template <typename T>
nlohmann::json orNull(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

// An empty text is null.
inline nlohmann::json textOrNull(const std::string& text) {
  return text.empty() ? nlohmann::json(nullptr) : nlohmann::json(text);
}

}  // namespace sonde::cli
