#include "analysis/ingest/rows/dictionary.h"

#include "base/utf8.h"

namespace sonde::ingest {

bool Dictionary::define(std::uint32_t id, std::string_view bytes) {
  if (id == 0 || id >= kMaxId)
    return false;
  if (id >= entries_.size())
    entries_.resize(id + 1);
  Entry& entry = entries_[id];
  if (entry.defined)
    return true;
  entry.text = toText(bytes);
  entry.defined = true;
  return true;
}

Dictionary::Entry& Dictionary::at(std::uint32_t id) {
  if (id < entries_.size() && entries_[id].defined)
    return entries_[id];
  ++unknown_;
  return unknownEntry_;
}

std::string_view Dictionary::text(std::uint32_t id) {
  return at(id).text;
}

model::StringId Dictionary::name(RowSink& sink, std::uint32_t id) {
  Entry& entry = at(id);
  if (!entry.row)
    entry.row = sink.intern(entry.text);
  return entry.row;
}

}  // namespace sonde::ingest
