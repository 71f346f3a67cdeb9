// Reads a Python pickle of plain data, protocols 0 to 5, without loading code. Free functions; any
// thread.
//
// Opcodes that name, call or build Python objects are errors, as are persistent ids, extensions and
// buffers outside of the file. Sets become lists. Integers of more than 64 bits become reals.
//
// Source: CPython's Lib/pickletools.py, which defines the opcodes and their arguments.
#pragma once

#include "analysis/ingest/input/byte_source.h"
#include "analysis/ingest/pickle/value_tree.h"
#include "base/result.h"

#include <filesystem>
#include <string>

namespace sonde::ingest {

// The bytes that the values of a file of this size may use: 64 times its size, from 16 MiB to
// 1 GiB.
std::uint64_t memoryForValues(std::uint64_t fileBytes) noexcept;

// All (inflated) bytes of a file. Unsupported: more than 1 GiB. Other errors are ByteSource's.
Result<std::string> readWhole(ByteSource source);

// The value of a pickle. Corrupt: an opcode is unknown or refused, or the pickle is cut short,
// contradicts itself, contains itself, is too deep or needs too much memory. Errors name the file,
// the opcode and its byte offset.
Result<ValueTree> readPickle(std::string bytes, const std::filesystem::path& file);

}  // namespace sonde::ingest
