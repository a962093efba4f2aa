#include <catena/kernels/base/error.h>

namespace catena {

// One out-of-line destructor each: the type information then lives in exactly one library.
Error::~Error() = default;
ValueError::~ValueError() = default;
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
