#include "analysis/ingest/trace_event/event_parser.h"

#include "analysis/ingest/input/decimal_time.h"
#include "analysis/ingest/input/json_pieces.h"
#include "analysis/ingest/trace_event/small_json.h"

#include <simdjson.h>

#include <charconv>

namespace sonde::ingest {
namespace {

static_assert(simdjson::SIMDJSON_PADDING <= JsonPieces::kPadding);

// Parses "12" and "0x1f".
OptionalNumber numberOf(std::string_view text) noexcept {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = hex ? text.substr(2) : text;
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error == std::errc{} && end == digits.data() + digits.size() && !digits.empty())
    return value;
  return hex ? OptionalNumber() : scaledDecimal(text, 0);  // "7.0"
}

// The text of a number or string; unset for another type.
struct Scalar {
  std::optional<std::string_view> text{};
  bool isNull = false;  // treated like a missing value
};

Scalar scalarOf(od::value value) {
  od::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS)
    return {};
  if (type == od::json_type::number)
    return {trimmed(value.raw_json_token()), false};
  if (type != od::json_type::string)
    return {{}, type == od::json_type::null};
  const std::string_view token = trimmed(value.raw_json_token());
  std::string_view text;
  if (value.get_string().get(text) == simdjson::SUCCESS)
    return {text, false};
  // An escape that JSON does not know ("C:\Users"): uses the raw text between the quotes.
  constexpr std::size_t kQuotes = 2;
  return {token.size() < kQuotes ? token : token.substr(1, token.size() - kQuotes), false};
}

// These read a value, and return whether it had the right type or was null.
bool readLabel(od::value value, Label& into) {
  const Scalar scalar = scalarOf(value);
  into = {};
  if (scalar.text)
    into = {*scalar.text, numberOf(*scalar.text)};
  return scalar.text || scalar.isNull;
}

bool readInteger(od::value value, OptionalNumber& into) {
  const Scalar scalar = scalarOf(value);
  into = scalar.text ? numberOf(*scalar.text) : OptionalNumber();
  return into || scalar.isNull;
}

bool readText(od::value value, std::string_view& into) {
  const Scalar scalar = scalarOf(value);
  into = scalar.text.value_or(std::string_view());
  return scalar.text || scalar.isNull;
}

void note(std::string_view key, ValueUse use, EventArgs& args) {
  UnreadableValues& values = args.unreadable[static_cast<std::size_t>(use)];
  if (values.count++ == 0)
    values.first = key;
}

simdjson::error_code readExtent(od::value value,
                                std::array<OptionalNumber, 3>& into,
                                bool& isReadable) {
  od::array list;
  isReadable = value.get_array().get(list) == simdjson::SUCCESS;
  if (!isReadable) {
    isReadable = scalarOf(value).isNull;
    return simdjson::SUCCESS;
  }
  std::size_t at = 0;
  for (auto item : list) {
    od::value element;
    if (const auto error = item.get(element))
      return error;
    if (at < into.size())
      isReadable = readInteger(element, into[at++]) && isReadable;
  }
  return simdjson::SUCCESS;
}

template <OptionalNumber EventArgs::*member>
simdjson::error_code integerArg(od::value value, EventArgs& args, bool& isReadable) {
  isReadable = readInteger(value, args.*member);
  return simdjson::SUCCESS;
}
template <std::string_view EventArgs::*member>
simdjson::error_code textArg(od::value value, EventArgs& args, bool& isReadable) {
  isReadable = readText(value, args.*member);
  return simdjson::SUCCESS;
}
template <std::array<OptionalNumber, 3> EventArgs::*member>
simdjson::error_code extentArg(od::value value, EventArgs& args, bool& isReadable) {
  return readExtent(value, args.*member, isReadable);
}

struct ArgReader {
  std::string_view key;
  ValueUse use;
  simdjson::error_code (*read)(od::value value, EventArgs& args, bool& isReadable);
};

// Ordered by length of the key, so that one comparison excludes most.
constexpr ArgReader kArgReaders[] = {
    {"Seq", ValueUse::Collective, integerArg<&EventArgs::seq>},
    {"pid", ValueUse::Metadata, integerArg<&EventArgs::pid>},
    {"tid", ValueUse::Metadata, integerArg<&EventArgs::tid>},
    {"step", ValueUse::Operation, integerArg<&EventArgs::step>},
    {"name", ValueUse::Metadata, textArg<&EventArgs::name>},
    {"rank", ValueUse::Metadata, integerArg<&EventArgs::rank>},
    {"host", ValueUse::Metadata, textArg<&EventArgs::host>},
    {"grid", ValueUse::Device, extentArg<&EventArgs::grid>},
    {"mb_id", ValueUse::Operation, integerArg<&EventArgs::microBatch>},
    {"bytes", ValueUse::Device, integerArg<&EventArgs::bytes>},
    {"block", ValueUse::Device, extentArg<&EventArgs::block>},
    {"dtype", ValueUse::Collective, textArg<&EventArgs::dtype>},
    {"seq_id", ValueUse::Operation, integerArg<&EventArgs::sequence>},
    {"device", ValueUse::Device, integerArg<&EventArgs::device>},
    {"pinned", ValueUse::Device, integerArg<&EventArgs::pinned>},
    {"stream", ValueUse::Device, integerArg<&EventArgs::stream>},
    {"graph id", ValueUse::Device, integerArg<&EventArgs::graphId>},
    {"host_id", ValueUse::Metadata, integerArg<&EventArgs::hostId>},
    {"event_id", ValueUse::Device, integerArg<&EventArgs::eventId>},
    {"Src Rank", ValueUse::Collective, integerArg<&EventArgs::sourceRank>},
    {"Dst Rank", ValueUse::Collective, integerArg<&EventArgs::targetRank>},
    {"Group size", ValueUse::Collective, integerArg<&EventArgs::groupSize>},
    {"world_size", ValueUse::Metadata, integerArg<&EventArgs::worldSize>},
    {"Stream Id", ValueUse::Device, integerArg<&EventArgs::stream>},
    {"Device Id", ValueUse::Device, integerArg<&EventArgs::device>},
    {"Task Type", ValueUse::Device, textArg<&EventArgs::taskType>},
    {"model_chunk", ValueUse::Operation, integerArg<&EventArgs::modelChunk>},
    {"correlation", ValueUse::Launch, integerArg<&EventArgs::correlation>},
    {"External id", ValueUse::Launch, integerArg<&EventArgs::externalId>},
    {"external id", ValueUse::Launch, integerArg<&EventArgs::externalId>},
    {"correlation_id", ValueUse::Launch, integerArg<&EventArgs::correlation>},
    {"memcpy_details", ValueUse::Device, textArg<&EventArgs::copyDetails>},
    {"local memory", ValueUse::Device, integerArg<&EventArgs::localBytes>},
    {"In msg nelems", ValueUse::Collective, integerArg<&EventArgs::inElements>},
    {"graph node id", ValueUse::Device, integerArg<&EventArgs::graphNodeId>},
    {"shared memory", ValueUse::Device, integerArg<&EventArgs::sharedBytes>},
    {"Out msg nelems", ValueUse::Collective, integerArg<&EventArgs::outElements>},
    {"cuda_sync_kind", ValueUse::Device, textArg<&EventArgs::syncKind>},
    {"Collective name", ValueUse::Collective, textArg<&EventArgs::collective>},
    {"Process Group Name", ValueUse::Collective, textArg<&EventArgs::group>},
    {"Process Group Ranks", ValueUse::Collective, textArg<&EventArgs::groupRanks>},
    {"static shared memory", ValueUse::Device, integerArg<&EventArgs::staticSharedBytes>},
    {"registers per thread", ValueUse::Device, integerArg<&EventArgs::registers>},
    {"dynamic shared memory", ValueUse::Device, integerArg<&EventArgs::dynamicSharedBytes>},
    {"wait_on_cuda_event_id", ValueUse::Device, integerArg<&EventArgs::eventId>},
    {"wait_on_cuda_event_record_corr_id",
     ValueUse::Device,
     integerArg<&EventArgs::recordCorrelation>},
};

// The text in a key's quotes. Only a key with escapes must be decoded; if JSON does not know one of
// them, the raw text is used.
simdjson::error_code readKey(od::field& field, std::string_view& into) {
  const char* const begin = field.key().raw();
  const char* end = begin;
  bool isEscaped = false;
  for (; *end != '"'; ++end) {
    if (*end != '\\')
      continue;
    isEscaped = true;
    ++end;  // an escaped quote does not close the text
  }
  into = {begin, static_cast<std::size_t>(end - begin)};
  std::string_view text;
  if (isEscaped && field.unescaped_key().get(text) == simdjson::SUCCESS)
    into = text;
  return simdjson::SUCCESS;
}

// Calls `take` with the name and the value of each member, until it fails.
template <typename Take>
simdjson::error_code readMembers(od::object& object, Take take) {
  for (auto item : object) {
    od::field field;
    if (const auto error = std::move(item).get(field))
      return error;
    std::string_view key;
    if (const auto error = readKey(field, key))
      return error;
    if (const auto error = take(key, field.value()))
      return error;
  }
  return simdjson::SUCCESS;
}

simdjson::error_code readArg(std::string_view key, od::value value, EventArgs& args) {
  for (const ArgReader& reader : kArgReaders) {
    if (reader.key != key)
      continue;
    bool isReadable = true;
    const auto error = reader.read(value, args, isReadable);
    if (!isReadable)
      note(reader.key, reader.use, args);
    return error;
  }
  return simdjson::SUCCESS;
}

simdjson::error_code readArgs(od::value value, EventArgs& args) {
  od::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS)
    return simdjson::SUCCESS;  // no arguments then
  if (const auto error = object.raw_json().get(args.json))
    return error;
  if (const auto error = object.reset().error())
    return error;
  return readMembers(
      object, [&](std::string_view key, od::value member) { return readArg(key, member, args); });
}

void readTime(od::value value, OptionalNumber& into, bool& bad) {
  const auto text = scalarOf(value).text;
  into = text ? nanosecondsOfMicroseconds(*text) : OptionalNumber();
  bad = bad || !into || !isTime(*into);
}

// {"local": "0x1"}, or {"global": "0x1"}.
simdjson::error_code readId2(od::value value, TraceEvent& event) {
  od::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS)
    return simdjson::SUCCESS;
  for (auto item : object) {
    od::field field;
    if (const auto error = std::move(item).get(field))
      return error;
    std::string_view key;
    if (const auto error = readKey(field, key))
      return error;
    event.idIsLocal = key == "local";
    if (!readLabel(field.value(), event.id))
      note("id2", ValueUse::Event, event.args);
  }
  return simdjson::SUCCESS;
}

struct FieldReader {
  std::string_view key;
  bool (*read)(od::value value, TraceEvent& event);  // false: the value has the wrong type
};

template <Label TraceEvent::*member>
bool labelField(od::value value, TraceEvent& event) {
  return readLabel(value, event.*member);
}
template <OptionalNumber TraceEvent::*member>
bool integerField(od::value value, TraceEvent& event) {
  return readInteger(value, event.*member);
}
template <std::string_view TraceEvent::*member>
bool textField(od::value value, TraceEvent& event) {
  return readText(value, event.*member);
}
// Missing times and phases are counted elsewhere.
template <OptionalNumber TraceEvent::*member>
bool timeField(od::value value, TraceEvent& event) {
  readTime(value, event.*member, event.badTime);
  return true;
}
bool phaseField(od::value value, TraceEvent& event) {
  const std::string_view phase = scalarOf(value).text.value_or(std::string_view());
  event.phase = phase.size() == 1 ? phase.front() : '\0';
  return true;
}
bool bindingField(od::value value, TraceEvent& event) {
  event.bindsEnclosing = scalarOf(value).text == std::string_view("e");
  return true;
}
bool bindIdField(od::value value, TraceEvent& event) {
  event.hasBindId = !scalarOf(value).isNull;
  return true;
}

// In the order in which kineto writes them; fields of exports come last.
constexpr FieldReader kFieldReaders[] = {
    {"ph", phaseField},
    {"cat", textField<&TraceEvent::category>},
    {"name", textField<&TraceEvent::name>},
    {"pid", labelField<&TraceEvent::pid>},
    {"tid", labelField<&TraceEvent::tid>},
    {"ts", timeField<&TraceEvent::startNs>},
    {"dur", timeField<&TraceEvent::durNs>},
    {"id", labelField<&TraceEvent::id>},
    {"bp", bindingField},
    {"bind_id", bindIdField},
    {"kind", textField<&TraceEvent::kind>},
    {"iteration", integerField<&TraceEvent::iteration>},
    {"lane", integerField<&TraceEvent::lane>},
    {"depth", integerField<&TraceEvent::depth>},
    {"device", integerField<&TraceEvent::device>},
    {"stream", integerField<&TraceEvent::stream>},
    {"launcher", labelField<&TraceEvent::launcher>},
};

simdjson::error_code readField(std::string_view key, od::value value, TraceEvent& event) {
  if (key == "args")
    return readArgs(value, event.args);
  if (key == "id2")
    return readId2(value, event);
  for (const FieldReader& reader : kFieldReaders) {
    if (reader.key != key)
      continue;
    if (!reader.read(value, event))
      note(reader.key, ValueUse::Event, event.args);
    break;
  }
  return simdjson::SUCCESS;
}

simdjson::error_code readEvent(od::object object, TraceEvent& event) {
  return readMembers(object, [&](std::string_view key, od::value value) {
    event.isEmpty = false;
    return readField(key, value, event);
  });
}

bool isTextError(simdjson::error_code error) {
  return error == simdjson::UTF8_ERROR || error == simdjson::UNESCAPED_CHARS;
}

}  // namespace

struct EventParser::State {
  od::parser parser;
};

EventParser::EventParser() : state_(std::make_unique<State>()) {}
EventParser::~EventParser() = default;

Result<EventParser::Outcome> EventParser::parse(std::string_view array, const Take& take) {
  Outcome outcome;
  const auto stopped = [&](simdjson::error_code error) {
    outcome.wrong = simdjson::error_message(error);
    outcome.badText = isTextError(error);
    return outcome;
  };
  od::document document;
  const simdjson::padded_string_view text(
      array.data(), array.size(), array.size() + JsonPieces::kPadding);
  if (const auto error = state_->parser.iterate(text).get(document))
    return stopped(error);
  od::array list;
  if (const auto error = document.get_array().get(list))
    return stopped(error);
  for (auto item : list) {
    od::value value;
    if (const auto error = item.get(value))
      return stopped(error);
    const char* const begin = value.raw_json_token().data();
    od::object object;
    if (const auto error = value.get_object().get(object))
      return stopped(error);
    TraceEvent event;
    event.place = static_cast<std::size_t>(begin - array.data());
    if (const auto error = readEvent(object, event))
      return stopped(error);
    if (!event.isEmpty)
      SONDE_TRY(take(event));
    ++outcome.taken;
  }
  return outcome;
}

}  // namespace sonde::ingest
