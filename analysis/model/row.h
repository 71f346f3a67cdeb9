// How a struct names the columns that it is stored in and read from.
//
// Plain values; any thread. SONDE_ROW stands last in a struct that is a row of a table. Each member
// is a column of the member's name in snake case: startNs is start_ns, grid.x is grid_x; `work.`
// and `slice.` are left out. SONDE_COLUMNS is for a struct that rows of a query are read into
// (store/read_rows.h).
#pragma once

#include <string_view>
#include <tuple>

#define SONDE_COLUMNS(...)                                   \
  static constexpr std::string_view kMembers = #__VA_ARGS__; \
  auto columns() const noexcept {                            \
    return std::tie(__VA_ARGS__);                            \
  }                                                          \
  auto columns() noexcept {                                  \
    return std::tie(__VA_ARGS__);                            \
  }

#define SONDE_ROW(TABLE, ...)                       \
  static constexpr std::string_view kTable = TABLE; \
  SONDE_COLUMNS(__VA_ARGS__)
