#include <catena/kernels/base/error.h>

#include <charconv>
#include <locale>
#include <sstream>

#include <catena/kernels/base/text.h>

namespace catena {

namespace {

template <class T, class... Format> void write_number(std::ostream& out, T v, Format... format) {
  char text[40];
  out.write(text, std::to_chars(text, text + sizeof text, v, format...).ptr - text);
}

}  // namespace

// Numbers go past the stream's own conversions, which follow a locale: these texts become names of files, headers and
// kernels.
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

std::string internal::concat(std::initializer_list<TextPart> parts) {
  std::ostringstream out;
  // For the operator<< of other types. Most programs have no other locale, and setting one takes as long as the text.
  if (out.getloc() != std::locale::classic()) out.imbue(std::locale::classic());
  for (const TextPart& part : parts) part.write(out);
  return out.str();
}

Error::Error(const std::string& message) : std::runtime_error(printable(message)) {}

// The destructors are defined here so that the type information of each class is emitted in exactly one library.
Error::~Error() = default;
ValueError::~ValueError() = default;
OverflowError::~OverflowError() = default;
TypeError::~TypeError() = default;
IndexError::~IndexError() = default;
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
CudaError::~CudaError() = default;

InvalidType::InvalidType(const std::string& expect, const std::string& actual, const std::string& prefix)
    : Error(prefix + "Expect: " + expect + "\nActual: " + actual), expect_(expect), actual_(actual) {}

CudaError::CudaError(const std::string& library, std::int64_t code, const std::string& symbol, const std::string& what)
    : Error(concat(what, ": ", library, " error ", code, " (", symbol, ")")),
      library_(library),
      symbol_(symbol),
      code_(code) {}

}  // namespace catena
