// Where an error happened, put before its message.
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

// To be called in a catch block: throws the current exception again, as an object of the same class, with "<where>: "
// before its message; `where` that ends a line is followed by no colon. That holds for the classes of
// kernels/base/error.h and those of the standard library; an exception of any other class, whose text cannot be
// replaced, is thrown on as it is.
[[noreturn]] CATENA_EXPORT void rethrow_from(std::string_view where);

// To be called in a catch block: where the standard library has thrown for want of memory or of threads, the exception
// of Catena for that, "<where>: ...": OutOfMemoryError for std::bad_alloc, RuntimeError for std::system_error. Any
// other exception is thrown on as it is.
[[noreturn]] CATENA_EXPORT void rethrow_standard(std::string_view where);

}  // namespace catena
