// The exception classes of the whole house and the check helpers. Both libraries throw exactly these types, so a
// program catches them wherever they were thrown, also across shared libraries.
//
// Message form: operation, values seen, rule broken, no trailing period:
//   concatenate: axis 3 is out of range for arrays of rank 2
#pragma once

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <catena/kernels/base/export.h>

namespace catena {

// Base of every exception thrown by Catena.
class CATENA_EXPORT Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
  ~Error() override;
};

#define CATENA_DEFINE_ERROR(Name, Base)                          \
  class CATENA_EXPORT Name : public Base {                       \
   public:                                                       \
    explicit Name(const std::string& message) : Base(message) {} \
    ~Name() override;                                            \
  }

CATENA_DEFINE_ERROR(ValueError, Error);
CATENA_DEFINE_ERROR(TypeError, Error);
CATENA_DEFINE_ERROR(IndexError, Error);
CATENA_DEFINE_ERROR(KeyError, Error);
CATENA_DEFINE_ERROR(AttributeError, Error);
CATENA_DEFINE_ERROR(AssertionError, Error);
CATENA_DEFINE_ERROR(RuntimeError, Error);
CATENA_DEFINE_ERROR(NotImplementedError, Error);
CATENA_DEFINE_ERROR(IOError, Error);
CATENA_DEFINE_ERROR(LinAlgError, Error);
CATENA_DEFINE_ERROR(OutOfMemoryError, Error);
CATENA_DEFINE_ERROR(CompileError, Error);  // of a run-time compiler; carries numbered source and the compiler's log

// A failed type check: `expect` is the printed condition, `actual` the values that broke it.
class CATENA_EXPORT InvalidType : public Error {
 public:
  InvalidType(const std::string& expect, const std::string& actual, const std::string& prefix = "");
  ~InvalidType() override;
  const std::string& expect() const noexcept { return expect_; }
  const std::string& actual() const noexcept { return actual_; }

 private:
  std::string expect_, actual_;
};

// An error status of a CUDA library: which library, the numeric code and its symbolic name.
class CATENA_EXPORT CudaError : public Error {
 public:
  CudaError(const std::string& library, std::int64_t code, const std::string& symbol, const std::string& what);
  ~CudaError() override;
  const std::string& library() const noexcept { return library_; }
  std::int64_t code() const noexcept { return code_; }
  const std::string& symbol() const noexcept { return symbol_; }

 private:
  std::string library_, symbol_;
  std::int64_t code_;
};

// The text of all parts, streamed one after the other.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

// Throws E with "op: parts..." Kept out of line of callers' hot paths: the text is built only here.
template <class E, class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail(std::string_view op, const Parts&... parts) {
  throw E(concat(op, ": ", parts...));
}

// Throws E unless the condition holds; builds no text on success.
template <class E, class... Parts>
inline void check(bool condition, std::string_view op, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail<E>(op, parts...);
}

}  // namespace catena
