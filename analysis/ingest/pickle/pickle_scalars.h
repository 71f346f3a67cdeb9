// The opcodes of a pickle that make one number or text. Free functions; any thread. They return
// ValueTree::kFull when the memory limit is reached, and errors of PickleInput.
#pragma once

#include "analysis/ingest/pickle/pickle_input.h"
#include "analysis/ingest/pickle/value_tree.h"
#include "base/result.h"

namespace sonde::ingest {

using PickledNode = Result<ValueTree::Node>;

// `width`: bytes of the length before the text or number.
PickledNode readText(PickleInput& input, ValueTree& tree, unsigned width, ValueKind kind);
PickledNode readSignedText(PickleInput& input, ValueTree& tree);   // BINSTRING
PickledNode readQuotedText(PickleInput& input, ValueTree& tree);   // STRING
PickledNode readUnicodeText(PickleInput& input, ValueTree& tree);  // UNICODE

PickledNode readUnsigned(PickleInput& input, ValueTree& tree, unsigned width);
PickledNode readSigned(PickleInput& input, ValueTree& tree);  // BININT
PickledNode readLong(PickleInput& input, ValueTree& tree, unsigned width);
PickledNode readReal(PickleInput& input, ValueTree& tree);  // BINFLOAT
// Lines of text: INT, which also has the bools of protocol 0, LONG and FLOAT.
PickledNode readTextNumber(PickleInput& input, ValueTree& tree);
PickledNode readTextLong(PickleInput& input, ValueTree& tree);
PickledNode readTextReal(PickleInput& input, ValueTree& tree);

}  // namespace sonde::ingest
