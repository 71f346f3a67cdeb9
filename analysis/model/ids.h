// The ids of the trace's tables. Plain values; any thread.
#pragma once

#include "base/strong_id.h"

namespace sonde::model {

using StringId = StrongId<struct StringTag>;
using HostId = StrongId<struct HostTag>;
using ProcessId = StrongId<struct ProcessTag>;
using ThreadId = StrongId<struct ThreadTag>;
using DeviceId = StrongId<struct DeviceTag>;
using StreamId = StrongId<struct StreamTag>;
using SliceId = StrongId<struct SliceTag>;
using KernelId = StrongId<struct KernelTag>;
using CopyId = StrongId<struct CopyTag>;
using SyncId = StrongId<struct SyncTag>;
using AllocationId = StrongId<struct AllocationTag>;
using CommunicatorId = StrongId<struct CommunicatorTag>;
using CollectiveId = StrongId<struct CollectiveTag>;
using ChannelId = StrongId<struct ChannelTag>;
using TransferId = StrongId<struct TransferTag>;
using IterationId = StrongId<struct IterationTag>;
using CounterId = StrongId<struct CounterTag>;
using FrameId = StrongId<struct FrameTag>;
using StackId = StrongId<struct StackTag>;
using NoteId = StrongId<struct NoteTag>;

}  // namespace sonde::model
