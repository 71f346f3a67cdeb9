// The texts of one spool file by the ids of their definitions. Owned by the builder of the image;
// not thread-safe. A text is interned into the trace on its first use as a name.
#pragma once

#include "analysis/ingest/rows/row_sink.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::ingest {

class Dictionary {
 public:
  // Replaces invalid UTF-8. False if the id is out of range.
  bool define(std::uint32_t id, std::string_view bytes);

  // Returns the empty text for id 0, and "(unknown)" for an undefined id, which it counts.
  std::string_view text(std::uint32_t id);
  model::StringId name(RowSink& sink, std::uint32_t id);

  std::uint64_t unknown() const noexcept { return unknown_; }

 private:
  struct Entry {
    std::string text;
    model::StringId row;
    bool defined = false;
  };
  // Sonde's library stops at 49,152; an id beyond this bound is damage.
  static constexpr std::uint32_t kMaxId = 1 << 20;

  std::vector<Entry> entries_{{.text = "", .row = {}, .defined = true}};
  Entry unknownEntry_{.text = "(unknown)", .row = {}, .defined = true};
  std::uint64_t unknown_ = 0;

  Entry& at(std::uint32_t id);
};

}  // namespace sonde::ingest
