// The records of a definitions slot. Definition slots are never recycled, so whatever a data record
// names can be looked up as long as the file exists. A definition is committed before the first
// record that uses it.
//
// Any thread may append without a lock. It finds a `claim` word that is 0 and writes the record's
// size there, not yet committed. Then it advances FileHeader::definitionsTail past the record,
// fills it in and sets kCommitted. A reader walks from a slot's first record in steps of `claim &
// kSizeMask`, skips records that are not committed, and stops at 0. A writer that is killed
// half-way thus leaves a hole of known size.
#pragma once

#include "collector/wire/words.h"

#include <cstdint>

namespace sonde::wire {

enum class DefinitionKind : std::uint16_t {
  String = 1,
  Thread = 2,
  ThreadName = 3,
  Channel = 4,
  Communicator = 5,
  Device = 6,
  Stream = 7,
  Code = 8,
  Plugin = 9,
  Counter = 10,
};

struct DefinitionHeader {
  static constexpr std::uint32_t kCommitted = 0x8000'0000;
  static constexpr std::uint32_t kSizeMask =
      0x00ff'ffff;  // bytes, header included, a multiple of 8
  std::uint32_t claim;
  DefinitionKind kind;
  std::uint16_t reserved;
};

// Followed by `length` bytes, not terminated. Longer texts are cut at kMaxStringBytes.
struct StringDefinition {
  DefinitionHeader header;
  std::uint32_t id;  // > 0; 0 is the empty string
  std::uint32_t length;
};
inline constexpr std::uint32_t kMaxStringBytes = 16 * 1024;

struct ThreadDefinition {
  DefinitionHeader header;
  std::uint32_t thread;  // index in the process image; SlotHeader::thread
  std::int32_t tid;
  std::uint64_t startTicks;  // when Sonde first saw the thread
};

struct ThreadNameDefinition {
  DefinitionHeader header;
  std::uint32_t thread;
  std::uint32_t name;
};

// One endpoint of a byte stream in this process. `localBytes` bytes with this endpoint's address
// follow, then `remoteBytes` bytes with the peer's address, neither terminated. The addresses are
// not in the string table, which is for names: a process may open any number of connections.
//   tcp   "a.b.c.d:port" or "[v6]:port"; the peer's row has them exchanged
//   unix  "unix:<inode>" of this socket and of its peer
//   pipe  "pipe:<device>:<inode>:r" or ":w"; remote is the other letter
//   mpi   "<communicator's key>/<its place>/<the peer's>"; remote has the places exchanged
//   nccl  "<communicator's key>/<channel>/<from>><to>/send" or "/receive"; remote is the other one
struct ChannelDefinition {
  static constexpr std::uint8_t kInherited =
      0x01;  // open before this image began; offsets do not start at 0
  DefinitionHeader header;
  std::uint32_t id;
  ChannelKind kind;
  std::uint8_t flags;
  std::uint16_t localBytes;
  std::uint16_t remoteBytes;
  std::uint8_t reserved[6];
  std::uint64_t openTicks;
};
inline constexpr std::uint16_t kMaxAddressBytes = 256;  // longer ones are cut

// `size` int32 ranks follow: the members in order, -1 if unknown. If the members are not known,
// none follow. `size` 0: unknown.
struct CommunicatorDefinition {
  DefinitionHeader header;
  std::uint32_t id;
  std::uint32_t key;  // string, the same on every member rank
  std::int32_t size;
  std::int32_t position;  // this process's place among the members
  Probe probe;
  std::uint8_t reserved[7];
};

// A device of this process. Written again when more is known about it.
struct DeviceDefinition {
  DefinitionHeader header;
  std::uint32_t ordinal;  // as this process counts them
  std::uint32_t name;     // 0: unknown
  std::uint64_t memoryBytes;
  std::uint8_t uuid[16];  // all 0: unknown
};

// A stream of a device. Written again when its priority becomes known.
struct StreamDefinition {
  static constexpr std::uint32_t kHasPriority = 0x01;
  DefinitionHeader header;
  std::uint32_t id;
  std::uint32_t device;  // ordinal; kNoDevice: unknown
  std::uint32_t context;
  std::uint32_t number;  // unique in its context
  std::int32_t priority;
  std::uint32_t flags;
  static constexpr std::uint32_t kNoDevice = 0xffff'ffff;
  // The `number` of data that unified memory moves, which is on no stream of the program.
  static constexpr std::uint32_t kUnifiedMemory = 0xffff'fffe;
};

// Code in the process: `length` bytes follow, with lines as in /proc/PID/maps.
struct CodeDefinition {
  DefinitionHeader header;
  std::uint32_t length;
  std::uint32_t reserved;
};

// An external probe that is active in this process.
struct PluginDefinition {
  DefinitionHeader header;
  std::uint32_t name;
  std::uint32_t category;  // of the plugin's slices
  std::uint32_t version;   // of the plugin
  std::uint8_t number;     // records refer to the plugin by it: 1 to kMaxPlugins
  std::uint8_t reserved[3];
};

// A counter of a plugin. May be written twice.
struct CounterDefinition {
  DefinitionHeader header;
  std::uint32_t id;
  std::uint32_t name;
  std::uint32_t unit;
  std::uint8_t plugin;
  std::uint8_t reserved[3];
};

static_assert(sizeof(PluginDefinition) == 24 && sizeof(CounterDefinition) == 24);
static_assert(sizeof(DefinitionHeader) == 8 && sizeof(CodeDefinition) == 16 &&
              sizeof(StringDefinition) == 16);
static_assert(sizeof(ThreadDefinition) == 24 && sizeof(ThreadNameDefinition) == 16);
static_assert(sizeof(ChannelDefinition) == 32 && sizeof(CommunicatorDefinition) == 32);
static_assert(sizeof(DeviceDefinition) == 40 && sizeof(StreamDefinition) == 32);

}  // namespace sonde::wire
