// The definitions segment of the spool, and the table that maps texts to ids. Lock-free; any thread
// at any time.
#pragma once

#include "collector/core/spool.h"
#include "collector/wire/definitions.h"

#include <cstddef>
#include <cstdint>

namespace sonde::core {

// Claims room for a definition of `bytes` (header included, rounded up to 8) without committing it.
// Returns nullptr if the segment cannot grow.
wire::DefinitionHeader* claimDefinition(Spool& spool,
                                        wire::DefinitionKind kind,
                                        std::size_t bytes) noexcept;

// Makes a filled-in definition visible.
void commitDefinition(wire::DefinitionHeader* definition) noexcept;

// Maps the table of strings. Call once, before any text is interned.
bool prepareStrings() noexcept;

// Gives an id to the text that stands for all texts that do not fit into the table. Call once, when
// there is a spool.
void nameTheLost() noexcept;

// From now on the table's texts are in `spool`. In a child: writes every string of the parent into
// the child's own file under the same id, and unmaps the parent's file. Returns the number of
// strings that did not fit. Records with their ids have no name; the strings get new ids when they
// are interned again.
std::uint32_t adoptStrings(Spool& spool) noexcept;

}  // namespace sonde::core
