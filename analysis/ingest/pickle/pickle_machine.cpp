#include "analysis/ingest/pickle/pickle_machine.h"

#include "analysis/ingest/pickle/pickle_input.h"
#include "analysis/ingest/pickle/pickle_scalars.h"
#include "analysis/ingest/pickle/pickle_stack.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace sonde::ingest {
namespace {

struct Machine {
  ValueTree& tree;
  PickleInput& input;
  PickleStack& stack;
  bool isStopped = false;
};

struct PickleOpcode {
  unsigned char code;
  std::string_view name;
  Result<void> (*run)(Machine&);
};

Result<void> refuse(Machine& machine) {
  return machine.input.failed("would make Python load or call code",
                              "Sonde reads plain data only; give the file as PyTorch wrote it");
}

Result<void> refuseBuffer(Machine& machine) {
  return machine.input.failed("refers to data outside of the file",
                              "give the file as PyTorch wrote it");
}

template <PickledNode (*kRead)(PickleInput&, ValueTree&)>
Result<void> scalar(Machine& machine) {
  SONDE_TRY_ASSIGN(const ValueTree::Node node, kRead(machine.input, machine.tree));
  return machine.stack.push(node);
}

template <unsigned kWidth, ValueKind kKind>
Result<void> countedText(Machine& machine) {
  SONDE_TRY_ASSIGN(const ValueTree::Node node,
                   readText(machine.input, machine.tree, kWidth, kKind));
  return machine.stack.push(node);
}

template <unsigned kWidth>
Result<void> unsignedNumber(Machine& machine) {
  SONDE_TRY_ASSIGN(const ValueTree::Node node, readUnsigned(machine.input, machine.tree, kWidth));
  return machine.stack.push(node);
}

template <unsigned kWidth>
Result<void> longNumber(Machine& machine) {
  SONDE_TRY_ASSIGN(const ValueTree::Node node, readLong(machine.input, machine.tree, kWidth));
  return machine.stack.push(node);
}

template <bool kValue>
Result<void> constant(Machine& machine) {
  return machine.stack.push(machine.tree.addBool(kValue));
}

Result<void> none(Machine& machine) {
  return machine.stack.push(machine.tree.addNone());
}

template <ValueKind kKind>
Result<void> empty(Machine& machine) {
  return machine.stack.push(machine.tree.addContainer(kKind));
}

template <ValueKind kKind>
Result<void> fromMark(Machine& machine) {
  return machine.stack.makeFromMark(kKind);
}

template <ValueKind kKind>
Result<void> intoContainer(Machine& machine) {
  return machine.stack.addFromMark(kKind);
}

template <std::size_t kSize>
Result<void> smallTuple(Machine& machine) {
  return machine.stack.makeTuple(kSize);
}

Result<void> appendOne(Machine& machine) {
  return machine.stack.addLast(1, ValueKind::List);
}

Result<void> setOne(Machine& machine) {
  return machine.stack.addLast(2, ValueKind::Dict);
}

template <unsigned kWidth>
Result<void> put(Machine& machine) {
  SONDE_TRY_ASSIGN(const std::uint64_t index, machine.input.number(kWidth));
  return machine.stack.remember(index);
}

template <unsigned kWidth>
Result<void> get(Machine& machine) {
  SONDE_TRY_ASSIGN(const std::uint64_t index, machine.input.number(kWidth));
  return machine.stack.recall(index);
}

Result<void> textPut(Machine& machine) {
  SONDE_TRY_ASSIGN(const std::int64_t index, machine.input.decimal());
  return machine.stack.remember(static_cast<std::uint64_t>(index));
}

Result<void> textGet(Machine& machine) {
  SONDE_TRY_ASSIGN(const std::int64_t index, machine.input.decimal());
  return machine.stack.recall(static_cast<std::uint64_t>(index));
}

Result<void> memoize(Machine& machine) {
  return machine.stack.rememberNext();
}

Result<void> protocol(Machine& machine) {
  constexpr std::uint64_t kLastProtocol = 5;
  SONDE_TRY_ASSIGN(const std::uint64_t version, machine.input.number(1));
  if (version > kLastProtocol)
    return machine.input.failed(fmt::format("names protocol {}, but Sonde knows 0 to 5", version),
                                "write the dump with protocol 5 or older");
  return {};
}

// A frame only says how many bytes a reader may read ahead.
Result<void> frame(Machine& machine) {
  SONDE_TRY_ASSIGN(const std::uint64_t length, machine.input.number(sizeof(std::uint64_t)));
  if (length > machine.input.left())
    return machine.input.damaged(
        fmt::format("needs {} bytes, but {} are left in the file", length, machine.input.left()));
  return {};
}

Result<void> mark(Machine& machine) {
  return machine.stack.mark();
}

Result<void> drop(Machine& machine) {
  return machine.stack.drop();
}

Result<void> dropToMark(Machine& machine) {
  return machine.stack.dropToMark();
}

Result<void> duplicate(Machine& machine) {
  SONDE_TRY_ASSIGN(const ValueTree::Node node, machine.stack.top());
  return machine.stack.push(node);
}

Result<void> ignore(Machine&) {
  return {};
}

Result<void> stop(Machine& machine) {
  SONDE_TRY_ASSIGN(const ValueTree::Node root, machine.stack.pop());
  if (!machine.stack.isEmpty())
    return machine.input.damaged("comes before the value is complete");
  machine.tree.setRoot(root);
  machine.isStopped = true;
  return {};
}

constexpr PickleOpcode kOpcodes[] = {
    {'(', "MARK", mark},
    {'.', "STOP", stop},
    {'0', "POP", drop},
    {'1', "POP_MARK", dropToMark},
    {'2', "DUP", duplicate},
    {'F', "FLOAT", scalar<readTextReal>},
    {'I', "INT", scalar<readTextNumber>},
    {'J', "BININT", scalar<readSigned>},
    {'K', "BININT1", unsignedNumber<1>},
    {'L', "LONG", scalar<readTextLong>},
    {'M', "BININT2", unsignedNumber<2>},
    {'N', "NONE", none},
    {'P', "PERSID", refuse},
    {'Q', "BINPERSID", refuse},
    {'R', "REDUCE", refuse},
    {'S', "STRING", scalar<readQuotedText>},
    {'T', "BINSTRING", scalar<readSignedText>},
    {'U', "SHORT_BINSTRING", countedText<1, ValueKind::Text>},
    {'V', "UNICODE", scalar<readUnicodeText>},
    {'X', "BINUNICODE", countedText<4, ValueKind::Text>},
    {'a', "APPEND", appendOne},
    {'b', "BUILD", refuse},
    {'c', "GLOBAL", refuse},
    {'d', "DICT", fromMark<ValueKind::Dict>},
    {'}', "EMPTY_DICT", empty<ValueKind::Dict>},
    {'e', "APPENDS", intoContainer<ValueKind::List>},
    {'g', "GET", textGet},
    {'h', "BINGET", get<1>},
    {'i', "INST", refuse},
    {'j', "LONG_BINGET", get<4>},
    {'l', "LIST", fromMark<ValueKind::List>},
    {']', "EMPTY_LIST", empty<ValueKind::List>},
    {'o', "OBJ", refuse},
    {'p', "PUT", textPut},
    {'q', "BINPUT", put<1>},
    {'r', "LONG_BINPUT", put<4>},
    {'s', "SETITEM", setOne},
    {'t', "TUPLE", fromMark<ValueKind::Tuple>},
    {')', "EMPTY_TUPLE", empty<ValueKind::Tuple>},
    {'u', "SETITEMS", intoContainer<ValueKind::Dict>},
    {'G', "BINFLOAT", scalar<readReal>},
    {'B', "BINBYTES", countedText<4, ValueKind::Bytes>},
    {'C', "SHORT_BINBYTES", countedText<1, ValueKind::Bytes>},
    {0x80, "PROTO", protocol},
    {0x81, "NEWOBJ", refuse},
    {0x82, "EXT1", refuse},
    {0x83, "EXT2", refuse},
    {0x84, "EXT4", refuse},
    {0x85, "TUPLE1", smallTuple<1>},
    {0x86, "TUPLE2", smallTuple<2>},
    {0x87, "TUPLE3", smallTuple<3>},
    {0x88, "NEWTRUE", constant<true>},
    {0x89, "NEWFALSE", constant<false>},
    {0x8a, "LONG1", longNumber<1>},
    {0x8b, "LONG4", longNumber<4>},
    {0x8c, "SHORT_BINUNICODE", countedText<1, ValueKind::Text>},
    {0x8d, "BINUNICODE8", countedText<8, ValueKind::Text>},
    {0x8e, "BINBYTES8", countedText<8, ValueKind::Bytes>},
    {0x8f, "EMPTY_SET", empty<ValueKind::List>},
    {0x90, "ADDITEMS", intoContainer<ValueKind::List>},
    {0x91, "FROZENSET", fromMark<ValueKind::List>},
    {0x92, "NEWOBJ_EX", refuse},
    {0x93, "STACK_GLOBAL", refuse},
    {0x94, "MEMOIZE", memoize},
    {0x95, "FRAME", frame},
    {0x96, "BYTEARRAY8", countedText<8, ValueKind::Bytes>},
    {0x97, "NEXT_BUFFER", refuseBuffer},
    {0x98, "READONLY_BUFFER", ignore},
};

}  // namespace

Result<void> runPickle(ValueTree& tree, std::string file) {
  std::array<const PickleOpcode*, 256> byCode{};
  for (const PickleOpcode& opcode : kOpcodes)
    byCode[opcode.code] = &opcode;
  PickleInput input(tree.content(), std::move(file));
  PickleStack stack(tree, input);
  Machine machine{tree, input, stack};
  while (!machine.isStopped) {
    SONDE_TRY_ASSIGN(const unsigned char code, input.nextOpcode());
    if (byCode[code] == nullptr)
      return input.unknownOpcode(code);
    input.nameOpcode(byCode[code]->name);
    SONDE_TRY(byCode[code]->run(machine));
  }
  return {};
}

}  // namespace sonde::ingest
