// The schema of a trace: its SQL texts and version numbers. Constants; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace sonde::store {

inline constexpr std::int64_t kApplicationId = 0x534F4E44;  // "SOND"
inline constexpr std::int64_t kSchemaVersion = 1;

// SQL scripts, embedded from the .sql files of this folder.
std::string_view tablesSql() noexcept;
std::string_view viewsSql() noexcept;
std::string_view indexesSql() noexcept;

}  // namespace sonde::store
