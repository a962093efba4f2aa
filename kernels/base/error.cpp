#include <catena/kernels/base/error.h>

#include <sstream>

namespace catena {

void internal::TextPart::write(std::ostream& out) const {
  switch (kind_) {
    case Kind::text: out << text_; break;
    case Kind::signed_: out << signed_value_; break;
    case Kind::unsigned_: out << unsigned_value_; break;
    case Kind::floating: out << floating_; break;
    case Kind::pointer: out << pointer_; break;
    case Kind::other: other_.write(out, other_.value); break;
  }
}

std::string internal::concat(std::initializer_list<TextPart> parts) {
  std::ostringstream out;
  for (const TextPart& part : parts) part.write(out);
  return out.str();
}

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
