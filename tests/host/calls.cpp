#include "tests/host/calls.h"

namespace host {
namespace {

using List = CallList (*)() noexcept;
constexpr List kLists[] = {streamCalls,
                           fileCalls,
                           socketCalls,
                           lifeCalls,
                           makeCalls,
                           stdioCalls,
                           execCalls,
                           childCalls,
                           waitCalls,
                           lockCalls,
                           threadCalls,
                           signalCalls,
                           memoryCalls};

}  // namespace

int callCount() noexcept {
  int count = 0;
  for (const List list : kLists)
    count += list().count;
  return count;
}

const NamedCall& callAt(int number) noexcept {
  for (const List list : kLists) {
    const CallList calls = list();
    if (number < calls.count)
      return calls.calls[number];
    number -= calls.count;
  }
  return kLists[0]().calls[0];
}

}  // namespace host
