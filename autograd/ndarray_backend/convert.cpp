#include <catena/autograd/ndarray_backend/convert.h>

#include <ostream>

#include <catena/ndarray/routines/print.h>

namespace autograd {

std::ostream& operator<<(std::ostream& out, const Array& a) { return a ? out << nd::Array(a) : out << "None"; }

}  // namespace autograd
