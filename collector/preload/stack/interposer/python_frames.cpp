#include "collector/preload/stack/interposer/python_frames.h"

#include "collector/core/platform/symbol_versions.h"
#include "collector/preload/stack/interposer/own_memory.h"
#include "collector/preload/stack/interposer/python_names.h"
#include "collector/wire/python_layout.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utility>

namespace sonde::preload::stack {
namespace {

using wire::kPythonLayouts;
using wire::PythonEntry;
using wire::PythonLayout;

constinit const PythonLayout* gLayout = nullptr;
using ThreadStateCall = void* (*)();
constinit ThreadStateCall gThreadState = nullptr;
constinit std::uint64_t gCodeType = 0;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kFrameBytes = 72;
constexpr std::size_t kCodeBytes = 136;

template <typename Value>
Value at(const char* bytes, std::size_t offset) noexcept {
  Value value;
  memcpy(&value, bytes + offset, sizeof value);
  return value;
}

// dlsym for a symbol that programs without Python lack; leaves no error for dlerror().
void* symbol(const char* name) noexcept {
  void* const address = dlsym(RTLD_DEFAULT, name);
  if (address == nullptr)
    dlerror();
  return address;
}

const PythonLayout* layoutOf(int major, int minor) noexcept {
  for (const PythonLayout& layout : kPythonLayouts) {
    if (major == 3 && layout.minor == minor)
      return &layout;
  }
  return nullptr;
}

void chooseLayout(const char* version, const Hooks& hooks) noexcept {
  char* end = nullptr;
  const long major = strtol(version, &end, 10);
  const long minor = *end == '.' ? strtol(end + 1, &end, 10) : 0;
  const PythonLayout* layout = layoutOf(static_cast<int>(major), static_cast<int>(minor));
  if (layout == nullptr) {
    char text[96];
    snprintf(text, sizeof text, "Python %ld.%ld is not known: no Python frames", major, minor);
    hooks.say(text);
    return;
  }
  gCodeType = reinterpret_cast<std::uint64_t>(symbol("PyCode_Type"));
  const auto textType = reinterpret_cast<std::uint64_t>(symbol("PyUnicode_Type"));
  gThreadState = reinterpret_cast<ThreadStateCall>(symbol("PyGILState_GetThisThreadState"));
  if (gCodeType == 0 || textType == 0 || gThreadState == nullptr) {
    hooks.say("Python does not export what Sonde needs: no Python frames");
    return;
  }
  prepareNames(*layout, textType, hooks.intern);
  gLayout = layout;
}

// Includes frames that are not functions. Torn memory may form a cycle of these.
constexpr std::size_t kMostHops = std::size_t{4} * kMostPythonFrames;

// A walk from the innermost frame outwards. A read of memory is a system call, so each reads as
// much as possible: the page up to a frame, where the next frames mostly are, and many code
// objects.
class Walk {
 public:
  Walk(const OwnMemory& memory, char* room, wire::PythonFrame* to) noexcept
      : memory_(memory), page_(room), objects_(room + kPage + kFrameBytes), to_(to) {}

  std::uint32_t run() noexcept {
    std::uint64_t frame = innermost();
    for (std::size_t hops = 0; frame != 0 && hops < kMostHops; ++hops) {
      if (count_ + waiting_ == kMostPythonFrames)
        break;
      const char* bytes = frameAt(frame);
      if (bytes == nullptr || !take(bytes))
        break;
      frame = at<std::uint64_t>(bytes, gLayout->caller);
    }
    nameAll();
    return count_;
  }

 private:
  std::uint64_t innermost() const noexcept {
    const auto state = reinterpret_cast<std::uint64_t>(gThreadState());
    std::uint64_t frame = 0;
    if (state == 0 || !memory_.read(state + gLayout->state, &frame, sizeof frame) || frame == 0)
      return 0;
    if (gLayout->cframe >= 0 &&
        !memory_.read(frame + static_cast<std::uint64_t>(gLayout->cframe), &frame, sizeof frame))
      return 0;
    return frame;
  }

  const char* frameAt(std::uint64_t frame) noexcept {
    if (frame < pageBegin_ || frame + kFrameBytes > pageEnd_) {
      pageBegin_ = frame & ~std::uint64_t{kPage - 1};
      pageEnd_ = frame + kFrameBytes;
      if (!memory_.read(pageBegin_, page_, pageEnd_ - pageBegin_))
        return nullptr;
    }
    return page_ + (frame - pageBegin_);
  }

  bool take(const char* bytes) noexcept {
    const auto byte = at<std::uint8_t>(bytes, gLayout->entryByte);
    if (gLayout->entry == PythonEntry::Guard && byte == wire::kOwnedByCStack) {
      if (waiting_ > 0)
        entries_[waiting_ - 1] = true;
      else if (count_ > 0)
        to_[count_ - 1].flags |= wire::PythonFrame::kEntry;
      return true;
    }
    codes_[waiting_] = at<std::uint64_t>(bytes, gLayout->code);
    entries_[waiting_] =
        gLayout->entry == PythonEntry::Every || (gLayout->entry == PythonEntry::Flag && byte != 0);
    return ++waiting_ < kMostAtOnce || nameAll();
  }

  // False: one of them is not a code object.
  bool nameAll() noexcept {
    const std::size_t asked = std::exchange(waiting_, 0);
    const std::size_t read = memory_.readEach(codes_, asked, kCodeBytes, objects_);
    for (std::size_t each = 0; each < read; ++each) {
      const char* object = objects_ + each * kCodeBytes;
      if (at<std::uint64_t>(object, wire::kObjectType) != gCodeType)
        return false;
      const CodeObject code{codes_[each],
                            at<std::uint64_t>(object, gLayout->name),
                            at<std::uint64_t>(object, gLayout->file),
                            at<std::uint32_t>(object, gLayout->line)};
      const CodeNames names = namesOf(code, memory_);
      to_[count_++] = {
          names.name, names.file, code.line, entries_[each] ? wire::PythonFrame::kEntry : 0U};
    }
    return read == asked;
  }

  const OwnMemory& memory_;
  char* page_;     // from pageBegin_ to pageEnd_
  char* objects_;  // kMostAtOnce code objects
  wire::PythonFrame* to_;
  std::uint64_t pageBegin_ = 0;
  std::uint64_t pageEnd_ = 0;
  std::uint32_t count_ = 0;
  std::size_t waiting_ = 0;  // number of frames whose code has not been read
  std::uint64_t codes_[kMostAtOnce];
  bool entries_[kMostAtOnce];
};

static_assert(kPage + kFrameBytes + kMostAtOnce * kCodeBytes <= kPythonRoom);

}  // namespace

void findPython(const Hooks& hooks) noexcept {
  const auto version = reinterpret_cast<const char* (*)()>(symbol("Py_GetVersion"));
  if (version != nullptr)
    chooseLayout(version(), hooks);
}

std::uint32_t readPythonFrames(char* room, wire::PythonFrame* to) noexcept {
  return gLayout == nullptr ? 0 : Walk(OwnMemory(), room, to).run();
}

}  // namespace sonde::preload::stack
