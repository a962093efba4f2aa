// The keys of basic indexing in namespace nd.
#pragma once

#include <catena/kernels/base/index_key.h>

namespace nd {

using catena::_;
using catena::Ellipsis;
using catena::ellipsis;
using catena::Key;
using catena::NewAxis;
using catena::newaxis;
using catena::Slice;

}  // namespace nd
