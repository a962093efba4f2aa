// The order of work on two streams, one of which may belong to another library.
#pragma once

#include <catena/ndarray/device/types.h>

namespace nd::internal {

// Later work of `next` waits for the work that `earlier` has now, without a wait of the host. The handle 1 is another
// name of the default stream (cudaStreamLegacy), as in the protocols of Python.
void order_streams(StreamRef earlier, StreamRef next);

}  // namespace nd::internal
