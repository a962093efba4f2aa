#include <catena/kernels/base/error_context.h>

#include <stdexcept>
#include <string>
#include <typeinfo>

#include <catena/kernels/base/error.h>

namespace catena {
namespace {

// A derived class is left alone: it may hold more than a text.
template <class E> void replace(const std::exception& e, std::string_view prefix) {
  if (typeid(e) == typeid(E)) throw E(concat(prefix, e.what()));
}
template <class... E> void replace_one_of(const std::exception& e, std::string_view prefix) {
  (replace<E>(e, prefix), ...);
}

// What a class prints before the part that it composes itself.
std::string beginning(const std::exception& e, const std::string& composed) {
  const std::string text = e.what();
  return text.ends_with(composed) ? text.substr(0, text.size() - composed.size()) : "";
}

[[noreturn]] void again(const InvalidType& e, std::string_view prefix) {
  const std::string what = beginning(e, InvalidType(e.expect(), e.actual()).what());
  throw InvalidType(e.expect(), e.actual(), concat(prefix, what));
}
[[noreturn]] void again(const CudaError& e, std::string_view prefix) {
  const std::string what = beginning(e, CudaError(e.library(), e.code(), e.symbol(), "").what());
  throw CudaError(e.library(), e.code(), e.symbol(), concat(prefix, what));
}

}  // namespace

void rethrow_from(std::string_view where) {
  const std::string prefix = concat(where, where.ends_with('\n') ? "" : ": ");
  try {
    throw;
  } catch (const std::exception& e) {
    if (typeid(e) == typeid(InvalidType)) again(static_cast<const InvalidType&>(e), prefix);
    if (typeid(e) == typeid(CudaError)) again(static_cast<const CudaError&>(e), prefix);
    replace_one_of<Error, ValueError, TypeError, IndexError, KeyError, AttributeError, AssertionError, RuntimeError,
                   NotImplementedError, IOError, LinAlgError, OutOfMemoryError, CompileError>(e, prefix);
    replace_one_of<std::runtime_error, std::logic_error, std::invalid_argument, std::out_of_range, std::domain_error,
                   std::length_error, std::range_error, std::overflow_error, std::underflow_error>(e, prefix);
    throw;
  }
}

}  // namespace catena
