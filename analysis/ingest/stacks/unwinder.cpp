#include "analysis/ingest/stacks/unwinder.h"

#include <libunwind.h>

#include <cstring>

// libunwind's search of a table of .eh_frame_hdr, which it exports without a header.
#define SONDE_UNWIND_NAME2(arch, name) _U##arch##_##name
#define SONDE_UNWIND_NAME(arch, name) SONDE_UNWIND_NAME2(arch, name)
#define SONDE_SEARCH_UNWIND_TABLE SONDE_UNWIND_NAME(UNW_TARGET, dwarf_search_unwind_table)
extern "C" int SONDE_SEARCH_UNWIND_TABLE(unw_addr_space_t space,
                                         unw_word_t ip,
                                         unw_dyn_info_t* table,
                                         unw_proc_info_t* info,
                                         int needUnwindInfo,
                                         void* argument);

namespace sonde::ingest {
namespace {

constexpr std::size_t kMostFrames = 512;

}  // namespace

struct Unwinder::Space {
  explicit Space(CodeMap& map) : code(map) {}

  CodeMap& code;
  const ThreadCopy* thread = nullptr;
  unw_addr_space_t unwind = nullptr;

  bool read(std::uint64_t address, std::span<std::byte> out) {
    const std::uint64_t stack = thread->stackAddress;
    if (address >= stack && address - stack < thread->stack.size()) {
      if (thread->stack.size() - (address - stack) < out.size())
        return false;
      std::memcpy(out.data(), thread->stack.data() + (address - stack), out.size());
      return true;
    }
    if (current != nullptr && current->file->read(address - current->bias, out))
      return true;
    const MappedCode* mapped = code.find(address);
    return mapped != nullptr && mapped->file != nullptr &&
           mapped->file->read(address - mapped->bias, out);
  }

  // The file whose tables were searched last: most reads besides the stack are in this file, in
  // parts that are not code.
  const MappedCode* current = nullptr;

  static Space& of(void* argument) { return *static_cast<Space*>(argument); }

  static int findProcInfo(unw_addr_space_t unwind,
                          unw_word_t ip,
                          unw_proc_info_t* info,
                          int needUnwindInfo,
                          void* argument) {
    Space& self = of(argument);
    const MappedCode* mapped = self.code.find(ip);
    if (mapped == nullptr || mapped->file == nullptr || !mapped->file->unwindTable())
      return -UNW_ENOINFO;
    self.current = mapped;
    const UnwindTable& table = *mapped->file->unwindTable();
    unw_dyn_info_t place{};
    place.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    place.start_ip = mapped->range.start;
    place.end_ip = mapped->range.end;
    place.u.rti.segbase = table.section + mapped->bias;
    place.u.rti.table_data = table.entries + mapped->bias;
    place.u.rti.table_len = table.count * 8 / sizeof(unw_word_t);
    return SONDE_SEARCH_UNWIND_TABLE(unwind, ip, &place, info, needUnwindInfo, argument);
  }

  static void putUnwindInfo(unw_addr_space_t, unw_proc_info_t*, void*) {}

  static int dynamicInfo(unw_addr_space_t, unw_word_t*, void*) { return -UNW_ENOINFO; }

  static int accessMemory(
      unw_addr_space_t, unw_word_t address, unw_word_t* value, int write, void* argument) {
    if (write != 0)
      return -UNW_EINVAL;
    return of(argument).read(address, std::as_writable_bytes(std::span(value, 1))) ? 0
                                                                                   : -UNW_EINVAL;
  }

  static int accessRegister(
      unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int write, void* argument) {
    const auto registers = of(argument).thread->registers;
    const auto at = static_cast<std::size_t>(number);
    if (write != 0 || number < 0 || at >= registers.size())
      return -UNW_EBADREG;
    *value = registers[at];
    return 0;
  }

  static int accessFloat(unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*) {
    return -UNW_EBADREG;
  }

  static int resume(unw_addr_space_t, unw_cursor_t*, void*) { return -UNW_EINVAL; }

  static int procName(unw_addr_space_t, unw_word_t, char*, std::size_t, unw_word_t*, void*) {
    return -UNW_ENOINFO;
  }
};

Unwinder::Unwinder(CodeMap& code) : space_(std::make_unique<Space>(code)) {
  unw_accessors_t accessors{};
  accessors.find_proc_info = Space::findProcInfo;
  accessors.put_unwind_info = Space::putUnwindInfo;
  accessors.get_dyn_info_list_addr = Space::dynamicInfo;
  accessors.access_mem = Space::accessMemory;
  accessors.access_reg = Space::accessRegister;
  accessors.access_fpreg = Space::accessFloat;
  accessors.resume = Space::resume;
  accessors.get_proc_name = Space::procName;
  space_->unwind = unw_create_addr_space(&accessors, 0);
  if (space_->unwind == nullptr)
    return;
  unw_set_caching_policy(space_->unwind, UNW_CACHE_GLOBAL);
  unw_set_cache_size(space_->unwind, 4096, 0);
}

Unwinder::~Unwinder() {
  if (space_->unwind != nullptr)
    unw_destroy_addr_space(space_->unwind);
}

void Unwinder::forget() {
  if (space_->unwind != nullptr)
    unw_flush_cache(space_->unwind, 0, 0);
}

void Unwinder::unwind(const ThreadCopy& thread, Unwound& out) {
  out.addresses.clear();
  out.complete = false;
  space_->thread = &thread;
  space_->current = nullptr;
  out.addresses.push_back(thread.registers[kInstructionPointer]);
  unw_cursor_t cursor;
  if (space_->unwind == nullptr || unw_init_remote(&cursor, space_->unwind, space_.get()) != 0)
    return;
  while (out.addresses.size() < kMostFrames) {
    const bool interrupted = unw_is_signal_frame(&cursor) > 0;
    const int step = unw_step(&cursor);
    unw_word_t ip = 0;
    if (step == 0)
      out.complete = true;
    if (step <= 0 || unw_get_reg(&cursor, UNW_REG_IP, &ip) != 0 || ip == 0) {
      out.complete = out.complete || (step > 0 && ip == 0);
      return;
    }
    const MappedCode* mapped = space_->code.find(ip);
    if (mapped == nullptr)
      return;
    // A return address is after its call, and may belong to the next function.
    out.addresses.push_back(interrupted ? ip : ip - 1);
  }
}

}  // namespace sonde::ingest
