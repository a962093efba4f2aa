// Forward declarations of the public classes of namespace nd.
#pragma once

#include <catena/ndarray/core/dtype.h>

namespace nd {

class Array;
class Operand;
class IndexKey;
struct ReduceOptions;
struct VarOptions;
struct ArgReduceOptions;
struct TestOptions;

}  // namespace nd
