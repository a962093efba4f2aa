// Adds the place of an error to the beginning of its message.
//
//   try {
//     extension(trainer);
//   } catch (...) {
//     catena::rethrow_from(catena::concat("extension ", name, " at iteration ", i));
//   }
#pragma once

#include <string_view>

#include <catena/kernels/base/export.h>

namespace catena {

// Must be called in a catch block. Rethrows the current exception as an object of the same class, with "<where>: "
// before its message; if `where` ends with a newline, no colon is added. Works for the classes of kernels/base/error.h
// and of the standard library; an exception of any other class, whose text cannot be replaced, is rethrown unchanged.
[[noreturn]] CATENA_EXPORT void rethrow_from(std::string_view where);

// Must be called in a catch block. If the standard library has thrown for lack of memory or threads, throws the
// corresponding exception of Catena, "<where>: ...": OutOfMemoryError for std::bad_alloc, RuntimeError for
// std::system_error. Any other exception is rethrown unchanged.
[[noreturn]] CATENA_EXPORT void rethrow_standard(std::string_view where);

}  // namespace catena
