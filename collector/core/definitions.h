// The definitions segment of the spool, and the table that gives a text its id. Lock-free; any
// thread, any time.
#pragma once

#include "collector/core/spool.h"
#include "collector/wire/definitions.h"

#include <cstddef>
#include <cstdint>

namespace sonde::core {

// Room for a definition of `bytes` (header included, rounded up to 8), claimed but not committed;
// nullptr when the segment may not grow.
wire::DefinitionHeader* claimDefinition(Spool& spool,
                                        wire::DefinitionKind kind,
                                        std::size_t bytes) noexcept;

// Makes a filled-in definition visible.
void commitDefinition(wire::DefinitionHeader* definition) noexcept;

// Once, before anything is interned: maps the table of strings.
bool prepareStrings() noexcept;

// Once, when there is a spool: gives the text that stands for all those past the table its id.
void nameTheLost() noexcept;

// The table's texts are in `spool` from now on. In a child: writes every string that the parent had
// into the child's own file under the id it has, and unmaps the parent's. How many had no room
// there: what is called by their ids has no name, and they get new ones when they are given again.
std::uint32_t adoptStrings(Spool& spool) noexcept;

}  // namespace sonde::core
