// The exception classes of both libraries, and the check helpers. Both libraries throw exactly these types, so that a
// catch clause works across shared libraries.
//
// Format of a message: operation, values, broken rule, no trailing period:
//   concatenate: axis 3 is out of bounds for array of dimension 2
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include <catena/kernels/base/export.h>

namespace catena {

// Base of every exception thrown by Catena. Messages go to terminals and may contain text from files, so what() is the
// printable text of the message (kernels/base/text.h).
class CATENA_EXPORT Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message);
  ~Error() override;

 protected:
  Error();  // for ValueError, IndexError and InvalidType, which set the message themselves
};

#define CATENA_DEFINE_ERROR(Name, Base)                          \
  class CATENA_EXPORT Name : public Base {                       \
   public:                                                       \
    explicit Name(const std::string& message) : Base(message) {} \
    ~Name() override;                                            \
  }

// ValueError and IndexError are the bases of AxisError, as in NumPy. Their base is virtual, so that an AxisError is one
// Error, which `catch (const Error&)` catches.
#define CATENA_DEFINE_BASE_OF_AXIS_ERROR(Name)      \
  class CATENA_EXPORT Name : public virtual Error { \
   public:                                          \
    explicit Name(const std::string& message);      \
    ~Name() override;                               \
  }
CATENA_DEFINE_BASE_OF_AXIS_ERROR(ValueError);  // an argument whose value is not allowed: a shape, an axis, an option
CATENA_DEFINE_BASE_OF_AXIS_ERROR(IndexError);  // an index or axis out of range
#undef CATENA_DEFINE_BASE_OF_AXIS_ERROR

CATENA_DEFINE_ERROR(OverflowError, ValueError);  // a number that a dtype cannot hold
CATENA_DEFINE_ERROR(TypeError, Error);       // an argument of a type, dtype or device that is not allowed; a null array
CATENA_DEFINE_ERROR(KeyError, Error);        // a name that is not there
CATENA_DEFINE_ERROR(AttributeError, Error);  // an attribute that cannot be set
CATENA_DEFINE_ERROR(AssertionError, Error);  // a failed check of a function of tests or of Chainer's asserts
CATENA_DEFINE_ERROR(RuntimeError, Error);    // a call in a state that does not allow it
CATENA_DEFINE_ERROR(NotImplementedError, Error);  // what the library does not offer
CATENA_DEFINE_ERROR(IOError, Error);              // a file that cannot be read or written, with the system's reason
CATENA_DEFINE_ERROR(LinAlgError, Error);          // a matrix without the result: singular, no convergence
CATENA_DEFINE_ERROR(OutOfMemoryError, Error);     // memory that the machine or the device does not have
CATENA_DEFINE_ERROR(CompileError, Error);  // from a run-time compiler; holds the numbered source and the compiler's log

// An axis that an array does not have, with the message of numpy.exceptions.AxisError after the operation:
// "sum: axis 3 is out of bounds for array of dimension 2". The arguments are in NumPy's order.
class CATENA_EXPORT AxisError : public ValueError, public IndexError {
 public:
  AxisError(std::int64_t axis, std::int64_t ndim, std::string_view msg_prefix = {});
  ~AxisError() override;
  std::int64_t axis() const noexcept { return axis_; }  // as it was given
  std::int64_t ndim() const noexcept { return ndim_; }  // the number of axes; -ndim <= axis < ndim would be allowed

 private:
  std::int64_t axis_, ndim_;
};

// A failed type check: `expect` is the printed condition, `actual` the values that broke it.
class CATENA_EXPORT InvalidType : public virtual Error {
 public:
  InvalidType(const std::string& expect, const std::string& actual, const std::string& prefix = "");
  ~InvalidType() override;
  const std::string& expect() const noexcept { return expect_; }
  const std::string& actual() const noexcept { return actual_; }

 private:
  std::string expect_, actual_;
};

// An axis that a type check of a differentiable function refuses: an InvalidType that is an AxisError, too. The message
// has the lines of both.
class CATENA_EXPORT InvalidAxis : public InvalidType, public AxisError {
 public:
  InvalidAxis(const std::string& expect, const std::string& actual, std::int64_t axis, std::int64_t ndim,
              const std::string& prefix = "");
  ~InvalidAxis() override;
};

// An error status of a CUDA library: the library, the numeric code and its symbolic name.
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

namespace internal {

// One part of a text: a reference to a value and the way to print it. One function of the library assembles the texts,
// so that callers neither include nor instantiate streams.
class TextPart {
 public:
  template <class T> TextPart(const T& v) noexcept {
    using V = std::remove_cvref_t<T>;
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      text_ = std::string_view(v);
    } else if constexpr (sizeof(V) == 1 && std::is_integral_v<V> && !std::is_same_v<V, bool>) {
      text_ = {reinterpret_cast<const char*>(&v), 1};  // printed as a character, as streams do
    } else if constexpr (std::is_floating_point_v<V>) {
      kind_ = Kind::floating;
      floating_ = static_cast<double>(v);
    } else if constexpr (std::is_integral_v<V> && std::is_unsigned_v<V>) {
      kind_ = Kind::unsigned_;
      unsigned_value_ = v;
    } else if constexpr (std::is_convertible_v<const T&, std::int64_t> &&
                         (std::is_integral_v<V> || std::is_enum_v<V>)) {
      kind_ = Kind::signed_;
      signed_value_ = static_cast<std::int64_t>(v);
    } else if constexpr (std::is_convertible_v<const T&, const volatile void*>) {
      kind_ = Kind::pointer;
      pointer_ = const_cast<const void*>(static_cast<const volatile void*>(v));
    } else {
      kind_ = Kind::other;
      other_ = {&v, [](std::ostream& out, const void* p) { out << *static_cast<const T*>(p); }};
    }
  }
  void write(std::ostream& out) const;

 private:
  enum class Kind : unsigned char { text, signed_, unsigned_, floating, pointer, other };
  struct Other {
    const void* value;
    void (*write)(std::ostream&, const void*);
  };
  Kind kind_ = Kind::text;
  union {
    std::string_view text_ = {};
    std::int64_t signed_value_;
    std::uint64_t unsigned_value_;
    double floating_;
    const void* pointer_;
    Other other_;
  };
};
CATENA_EXPORT std::string concat(std::initializer_list<TextPart> parts);

}  // namespace internal

// Returns all parts, joined to one string.
template <class... Parts> std::string concat(const Parts&... parts) {
  return internal::concat({internal::TextPart(parts)...});
}

// Throws E with the message "op: parts...". The text is built only here, outside of the caller's hot path.
template <class E, class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail(std::string_view op, const Parts&... parts) {
  throw E(concat(op, ": ", parts...));
}

// Throws E unless the condition holds; builds no text if it holds.
template <class E, class... Parts> inline void check(bool condition, std::string_view op, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail<E>(op, parts...);
}

}  // namespace catena
