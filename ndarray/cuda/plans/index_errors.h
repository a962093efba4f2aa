// Errors found by kernels: an index out of range is written to a record in pinned memory and thrown by the next call
// that waits for a device. There is one record per device, which keeps the first error until it is thrown.
//
// Thread safety: all functions may be called from any thread; only one thread gets an error.
#pragma once

#include <string_view>

#include <catena/kernels/base/export.h>
#include <catena/kernels/device/parameters.h>

namespace nd::cuda {

// Returns the record of a device, which kernels of the device can write. It is never freed, because graphs refer to it.
catena::device::IndexRecord* index_record(int device);
// Returns a copy of the text at an address that stays valid.
const char* lasting_name(std::string_view name);

// Throws IndexError if there is a complete record, and clears the record.
void throw_index_errors();

}  // namespace nd::cuda
