// Optional values as JSON; unset is null. Pure functions.
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

namespace sonde::cli {

template <typename T>
nlohmann::json orNull(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace sonde::cli
