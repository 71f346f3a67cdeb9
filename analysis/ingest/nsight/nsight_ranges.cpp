#include "analysis/ingest/nsight/nsight_ranges.h"

#include "analysis/ingest/import/event_kinds.h"

#include <array>
#include <map>
#include <tuple>

namespace sonde::ingest {
namespace {

using Column = NsightTable::Column;
using Type = NsightTable::Type;
using model::SliceKind;

enum RangeColumn : std::size_t {
  Start,
  End,
  EventType,
  Thread,
  Text,
  TextId,
  Domain,
  Category,
  JsonText,
  JsonTextId,
  Unsigned64,
  Signed64,
  Unsigned32,
  Signed32,
  Double,
  Float,
};
constexpr std::array<Column, 16> kColumns = {{{"start", Type::Integer, true},
                                              {"end"},
                                              {"eventType", Type::Integer, true},
                                              {"globalTid", Type::Integer, true},
                                              {"text", Type::Text},
                                              {"textId"},
                                              {"domainId"},
                                              {"category"},
                                              {"jsonText", Type::Text},
                                              {"jsonTextId"},
                                              {"uint64Value"},
                                              {"int64Value"},
                                              {"uint32Value"},
                                              {"int32Value"},
                                              {"doubleValue", Type::Real},
                                              {"floatValue", Type::Real}}};

// The kinds of events. The numbers below are the same in all versions so far.
enum class Event : std::uint8_t { Other, Category, Mark, PushPop, StartEnd, DomainCreate };
constexpr std::pair<std::string_view, Event> kEventNames[] = {
    {"NvtxCategory", Event::Category},
    {"NvtxMark", Event::Mark},
    {"NvtxPushPopRange", Event::PushPop},
    {"NvtxStartEndRange", Event::StartEnd},
    {"NvtxDomainCreate", Event::DomainCreate},
};

class Ranges {
 public:
  explicit Ranges(NsightContext& context) : context_(context) {}

  Result<void> read() {
    SONDE_TRY(readEventTypes());
    SONDE_TRY(readNames());
    return context_.read(
        "NVTX_EVENTS", kColumns, "nvtx", [&](const NsightTable& row) { return event(row); });
  }

 private:
  using Key = std::tuple<std::size_t, std::int64_t, std::int64_t>;  // process, domain, category
  static constexpr std::int64_t kNoCategory = -1;

  Result<void> readEventTypes();
  Result<void> readNames();
  Result<void> event(const NsightTable& row);
  Result<void> addFacts(const NsightTable& row, model::SliceId slice);
  Result<void> addNamed(model::SliceId slice, std::string_view key, const Key& named);
  Result<void> addPayload(const NsightTable& row, model::SliceId slice);
  Result<std::string> textOf(const NsightTable& row);
  Event typeOf(const NsightTable& row) const {
    const auto known = types_.find(*row.integer(EventType));
    return known == types_.end() ? Event::Other : known->second;
  }

  NsightContext& context_;
  std::map<std::int64_t, Event> types_ = {{33, Event::Category},
                                          {34, Event::Mark},
                                          {59, Event::PushPop},
                                          {60, Event::StartEnd},
                                          {75, Event::DomainCreate}};
  std::map<Key, std::string> names_;  // of domains and of categories
};

// Numbers in the file take precedence.
Result<void> Ranges::readEventTypes() {
  constexpr std::array<Column, 2> kEnum = {
      {{"id", Type::Integer, true}, {"name", Type::Text, true}}};
  SONDE_TRY_ASSIGN(
      auto table,
      NsightTable::open(context_.file, "ENUM_NSYS_EVENT_TYPE", kEnum, context_.account));
  return forEachRow(std::move(table), [&](const NsightTable& row) -> Result<void> {
    for (const auto& [name, type] : kEventNames)
      if (row.text(1) == name)
        types_[*row.integer(0)] = type;
    return {};
  });
}

Result<std::string> Ranges::textOf(const NsightTable& row) {
  if (const auto text = row.text(Text))
    return std::string(*text);
  SONDE_TRY_ASSIGN(const NsightNames::Name* const name, context_.names.find(row.integer(TextId)));
  return name->text;
}

// Domains and categories may be named after their first use. Counts nothing, because the rows are
// read again.
Result<void> Ranges::readNames() {
  ImportedFile uncounted;
  SONDE_TRY_ASSIGN(auto table,
                   NsightTable::open(context_.file, "NVTX_EVENTS", kColumns, uncounted));
  return forEachRow(std::move(table), [&](const NsightTable& row) -> Result<void> {
    const Event type = typeOf(row);
    if (type != Event::DomainCreate && type != Event::Category)
      return {};
    const std::int64_t category =
        type == Event::Category ? row.integer(Category).value_or(0) : kNoCategory;
    SONDE_TRY_ASSIGN(std::string name, textOf(row));
    names_.try_emplace(
        {context_.process(*row.integer(Thread)), row.integer(Domain).value_or(0), category},
        std::move(name));
    return {};
  });
}

Result<void> Ranges::event(const NsightTable& row) {
  const Event type = typeOf(row);
  if (type == Event::DomainCreate || type == Event::Category)
    return {};
  if (type == Event::Other) {
    ++context_.account.notKept;
    return {};
  }
  auto span = context_.spanOf(row.integer(Start), row.integer(End));
  if (!span)
    return {};
  SONDE_TRY_ASSIGN(const std::string name, textOf(row));
  model::Slice slice;
  slice.category = "nvtx";
  SONDE_TRY_ASSIGN(slice.nameId, context_.writer.intern(name));
  slice.kind = sliceKindOfEvent(slice.category, name);
  if (type == Event::StartEnd)
    slice.kind = SliceKind::Range;
  if (type == Event::Mark) {
    slice.kind = SliceKind::Mark;
    span->durNs = 0;
  }
  SONDE_TRY_ASSIGN(const model::SliceId id, context_.addSlice(slice, *row.integer(Thread), *span));
  if (slice.kind == SliceKind::Iteration)
    SONDE_TRY(context_.addIteration(id, *row.integer(Thread), *profilerStep(name), *span));
  return addFacts(row, id);
}

Result<void> Ranges::addNamed(model::SliceId slice, std::string_view key, const Key& named) {
  const auto name = names_.find(named);
  if (name != names_.end())
    return context_.addArg(slice, key, std::string_view(name->second));
  const std::int64_t category = std::get<2>(named);
  return context_.addArg(slice, key, category == kNoCategory ? std::get<1>(named) : category);
}

Result<void> Ranges::addFacts(const NsightTable& row, model::SliceId slice) {
  const std::size_t process = context_.process(*row.integer(Thread));
  const std::int64_t domain = row.integer(Domain).value_or(0);
  if (domain != 0)
    SONDE_TRY(addNamed(slice, "domain", {process, domain, kNoCategory}));
  if (const auto category = row.integer(Category); category && *category != 0)
    SONDE_TRY(addNamed(slice, "category", {process, domain, *category}));
  if (const auto json = row.text(JsonText)) {
    SONDE_TRY(context_.addArg(slice, "json", *json));
  } else if (const auto number = row.integer(JsonTextId)) {
    SONDE_TRY_ASSIGN(const NsightNames::Name* const text, context_.names.find(number));
    SONDE_TRY(context_.addArg(slice, "json", std::string_view(text->text)));
  }
  return addPayload(row, slice);
}

Result<void> Ranges::addPayload(const NsightTable& row, model::SliceId slice) {
  for (const std::size_t column : {Unsigned64, Signed64, Unsigned32, Signed32})
    if (const auto value = row.integer(column))
      return context_.addArg(slice, "payload", *value);
  for (const std::size_t column : {Double, Float})
    if (const auto value = row.real(column))
      return context_.addArg(slice, "payload", *value);
  return {};
}

}  // namespace

Result<void> importNsightRanges(NsightContext& context) {
  return Ranges(context).read();
}

}  // namespace sonde::ingest
