#include <catena/kernels/base/error.h>

#include <charconv>
#include <locale>
#include <sstream>
#include <utility>

#include <catena/kernels/base/no_memory.h>
#include <catena/kernels/base/text.h>

namespace catena {

namespace {

template <class T, class... Format> void write_number(std::ostream& out, T v, Format... format) {
  char text[40];
  out.write(text, std::to_chars(text, text + sizeof text, v, format...).ptr - text);
}

}  // namespace

// Numbers do not use the stream's own conversions, which depend on a locale: these texts become names of files, headers
// and kernels.
void internal::TextPart::write(std::ostream& out) const {
  switch (kind_) {
    case Kind::text: out << text_; break;
    case Kind::signed_: write_number(out, signed_value_); break;
    case Kind::unsigned_: write_number(out, unsigned_value_); break;
    case Kind::floating: write_number(out, floating_, std::chars_format::general, 6); break;
    case Kind::pointer:
      out << "0x";
      write_number(out, reinterpret_cast<std::uintptr_t>(pointer_), 16);
      break;
    case Kind::other: other_.write(out, other_.value); break;
  }
}

namespace {

// The stream of a thread. It is kept because its construction locks a mutex of the standard library if the program has
// set a locale, and in a child of fork() another thread of the parent may hold that mutex for ever. Its locale is the C
// locale, for the operator<< of other types.
class ThreadStream {
 public:
  ~ThreadStream() { delete std::exchange(stream_, nullptr); }
  // Returns null during a call of operator<< that itself creates a text.
  std::ostringstream* take() {
    if (stream_ == nullptr) {
      stream_ = new std::ostringstream;
      stream_->imbue(std::locale::classic());
    }
    return std::exchange(busy_, true) ? nullptr : stream_;
  }
  void give_back() noexcept { busy_ = false; }

 private:
  std::ostringstream* stream_ = nullptr;
  bool busy_ = false;
};

std::string text_of(std::initializer_list<internal::TextPart> parts, std::ostringstream& out) {
  for (const internal::TextPart& part : parts) part.write(out);
  return out.str();
}

}  // namespace

std::string internal::concat(std::initializer_list<TextPart> parts) try {
  static thread_local ThreadStream of_thread;
  std::ostringstream* const out = of_thread.take();
  if (out == nullptr) {
    std::ostringstream own;
    own.imbue(std::locale::classic());
    return text_of(parts, own);
  }
  struct Return {
    ~Return() { of_thread.give_back(); }
  } const at_the_end;
  out->str({});
  out->clear();
  out->flags(std::ios_base::dec | std::ios_base::skipws);
  out->precision(6);
  return text_of(parts, *out);
} catch (const std::bad_alloc&) {  // also where the text is the message of another error
  throw_out_of_memory();
}

Error::Error(const std::string& message) : std::runtime_error(printable(message)) {}
Error::Error() : std::runtime_error("") {}

// Only the most derived class could construct the virtual base with the message, and that may be a class of a program.
ValueError::ValueError(const std::string& message) { Error::operator=(Error(message)); }
IndexError::IndexError(const std::string& message) { Error::operator=(Error(message)); }

// The destructors are defined here so that the type information of each class is emitted in exactly one library.
Error::~Error() = default;
ValueError::~ValueError() = default;
OverflowError::~OverflowError() = default;
TypeError::~TypeError() = default;
IndexError::~IndexError() = default;
AxisError::~AxisError() = default;
KeyError::~KeyError() = default;
AttributeError::~AttributeError() = default;
AssertionError::~AssertionError() = default;
RuntimeError::~RuntimeError() = default;
NotImplementedError::~NotImplementedError() = default;
IOError::~IOError() = default;
LinAlgError::~LinAlgError() = default;
OutOfMemoryError::~OutOfMemoryError() = default;
CompileError::~CompileError() = default;
InvalidType::~InvalidType() = default;
InvalidAxis::~InvalidAxis() = default;
CudaError::~CudaError() = default;

namespace {
std::string axis_message(std::int64_t axis, std::int64_t ndim, std::string_view prefix) {
  return concat(prefix, prefix.empty() || prefix.ends_with('\n') ? "" : ": ", "axis ", axis,
                " is out of bounds for array of dimension ", ndim);
}
}  // namespace

AxisError::AxisError(std::int64_t axis, std::int64_t ndim, std::string_view msg_prefix)
    : ValueError(axis_message(axis, ndim, msg_prefix)), IndexError(what()), axis_(axis), ndim_(ndim) {}

InvalidType::InvalidType(const std::string& expect, const std::string& actual, const std::string& prefix)
    : expect_(expect), actual_(actual) {
  Error::operator=(Error(prefix + "Expect: " + expect + "\nActual: " + actual));
}

InvalidAxis::InvalidAxis(const std::string& expect, const std::string& actual, std::int64_t axis, std::int64_t ndim,
                         const std::string& prefix)
    : InvalidType(expect, actual, prefix), AxisError(axis, ndim, concat(what(), '\n')) {}

CudaError::CudaError(const std::string& library, std::int64_t code, const std::string& symbol, const std::string& what)
    : Error(concat(what, ": ", library, " error ", code, " (", symbol, ")")),
      library_(library),
      symbol_(symbol),
      code_(code) {}

}  // namespace catena
