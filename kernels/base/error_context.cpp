#include <catena/kernels/base/error_context.h>

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>

#include <catena/kernels/base/cuda_error.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/no_memory.h>

namespace catena {
namespace {

// Does nothing for a derived class, which may hold more than a text.
template <class E> void replace(const std::exception& e, std::string_view prefix) {
  if (typeid(e) == typeid(E)) throw E(concat(prefix, e.what()));
}
template <class... E> void replace_one_of(const std::exception& e, std::string_view prefix) {
  (replace<E>(e, prefix), ...);
}

// Returns the text that a class prints before the part that it composes itself.
std::string beginning(const std::exception& e, const std::string& composed) {
  const std::string text = e.what();
  return text.ends_with(composed) ? text.substr(0, text.size() - composed.size()) : "";
}

[[noreturn]] void again(const InvalidType& e, std::string_view prefix) {
  const std::string what = beginning(e, InvalidType(e.expect(), e.actual()).what());
  throw InvalidType(e.expect(), e.actual(), concat(prefix, what));
}
[[noreturn]] void again(const AxisError& e, std::string_view prefix) {
  std::string all = concat(prefix, beginning(e, AxisError(e.axis(), e.ndim()).what()));
  if (all.ends_with(": ")) all.resize(all.size() - 2);  // the constructor adds it
  throw AxisError(e.axis(), e.ndim(), all);
}
[[noreturn]] void again(const InvalidAxis& e, std::string_view prefix) {
  const std::string what = beginning(e, InvalidAxis(e.expect(), e.actual(), e.axis(), e.ndim()).what());
  throw InvalidAxis(e.expect(), e.actual(), e.axis(), e.ndim(), concat(prefix, what));
}
template <class E> void replace_cuda_error(const std::exception& e, std::string_view prefix) {
  if (typeid(e) != typeid(E)) return;
  const auto& error = static_cast<const E&>(e);
  const std::string what = beginning(e, E(error.library(), error.code(), error.symbol(), "").what());
  throw E(error.library(), error.code(), error.symbol(), concat(prefix, what));
}

constexpr const char* kNoMemory = "the host has no memory left";

// Made while there is memory: to copy it, and to throw the copy, takes none.
const OutOfMemoryError& out_of_memory() {
  static const OutOfMemoryError& error = *new OutOfMemoryError(kNoMemory);
  return error;
}
[[maybe_unused]] const OutOfMemoryError& made_early = out_of_memory();

[[noreturn]] void again_with_place(std::string_view where) {
  const std::string prefix = concat(where, where.ends_with('\n') ? "" : ": ");
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw OutOfMemoryError(concat(prefix, kNoMemory));
  } catch (const std::exception& e) {
    if (typeid(e) == typeid(InvalidType)) again(dynamic_cast<const InvalidType&>(e), prefix);
    if (typeid(e) == typeid(InvalidAxis)) again(dynamic_cast<const InvalidAxis&>(e), prefix);
    if (typeid(e) == typeid(AxisError)) again(dynamic_cast<const AxisError&>(e), prefix);
    replace_cuda_error<CudaError>(e, prefix);
#define CATENA_REPLACE(Name, ...) replace_cuda_error<Name>(e, prefix);
    CATENA_CUDA_ERRORS(CATENA_REPLACE)
#undef CATENA_REPLACE
    replace_one_of<Error, ValueError, OverflowError, TypeError, IndexError, KeyError, AttributeError, AssertionError,
                   RuntimeError, NotImplementedError, IOError, LinAlgError, OutOfMemoryError, CompileError>(e, prefix);
    replace_one_of<std::runtime_error, std::logic_error, std::invalid_argument, std::out_of_range, std::domain_error,
                   std::length_error, std::range_error, std::overflow_error, std::underflow_error>(e, prefix);
    throw;
  }
}

[[noreturn]] void again_as_own(std::string_view where, bool renames) {
  const std::string_view colon = where.empty() ? "" : ": ";
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw OutOfMemoryError(concat(where, colon, kNoMemory));
  } catch (const OutOfMemoryError& e) {
    const std::string_view what = e.what();
    const std::size_t end = what.find(": ");
    if (what != kNoMemory && !renames) throw;
    throw OutOfMemoryError(concat(where, colon, end == what.npos ? what : what.substr(end + 2)));
  } catch (const std::length_error& e) {
    throw OutOfMemoryError(concat(where, colon, "more is asked for than any memory holds (", e.what(), ")"));
  } catch (const std::system_error& e) {
    throw RuntimeError(concat(where, colon, e.what()));
  }
}

}  // namespace

void internal::throw_out_of_memory() { throw out_of_memory(); }

void rethrow_from(std::string_view where) {
  try {
    again_with_place(where);
  } catch (const std::bad_alloc&) {
    internal::throw_out_of_memory();
  }
}

void rethrow_standard(std::string_view where, bool renames) {
  try {
    again_as_own(where, renames);
  } catch (const std::bad_alloc&) {
    internal::throw_out_of_memory();
  }
}

}  // namespace catena
