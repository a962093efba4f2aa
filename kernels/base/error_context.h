// Adds the place of an error to the beginning of its message.
//
//   try {
//     extension(trainer);
//   } catch (...) {
//     catena::rethrow_from(catena::concat("extension ", name, " at iteration ", i));
//   }
#pragma once

#include <concepts>
#include <new>
#include <string_view>

#include <catena/kernels/base/export.h>

namespace catena {

// To be called in a catch block: throws the current exception again, as an object of the same class, with "<where>: "
// before its message; `where` that ends a line is followed by no colon. That holds for the classes of
// kernels/base/error.h and those of the standard library; std::bad_alloc, which has no text of its own, becomes an
// OutOfMemoryError. An exception of any other class, whose text cannot be replaced, is thrown on as it is.
[[noreturn]] CATENA_EXPORT void rethrow_from(std::string_view where);

// To be called in a catch block: where the standard library has thrown for want of memory or of threads, the exception
// of Catena for that, "<where>: ...": OutOfMemoryError for std::bad_alloc and std::length_error, RuntimeError for
// std::system_error. Any other exception is thrown on as it is, but with `renames`, `where` replaces the function at
// the beginning of the message of an OutOfMemoryError. Where memory does not even suffice for the message, it lacks
// `where`. As the handler of a whole function it costs nothing until something is thrown:
//
//   Array concatenate(...) try {
//     ...
//   } catch (...) {
//     catena::rethrow_standard("concatenate");
//   }
[[noreturn, gnu::cold]] CATENA_EXPORT void rethrow_standard(std::string_view where, bool renames = false);
// The same where the text is made only then, by where().
template <std::invocable<> F> [[noreturn, gnu::cold]] void rethrow_standard(F&& where) {
  try {
    rethrow_standard(std::string_view(where()));
  } catch (const std::bad_alloc&) {  // by where(): the text is left out
    rethrow_standard(std::string_view());
  }
}

}  // namespace catena
