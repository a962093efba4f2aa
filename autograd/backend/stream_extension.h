// Streams of backends with asynchronous devices: copies and computations of one stream run beside those of another.
#pragma once

#include <string_view>

#include <catena/autograd/backend/backend.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>

namespace autograd {

// Thread safety: any thread may use it; a Stream and a Point belong to one thread at a time.
class CATENA_EXPORT StreamExtension {
 public:
  static constexpr std::string_view kName = "stream";
  virtual ~StreamExtension();

  // The end of the work that a stream had when the point was made.
  class CATENA_EXPORT Point {
   public:
    virtual ~Point();
    // Makes the stream that is current in the calling thread wait for this work. Does not block the thread.
    virtual void wait() = 0;
  };
  class CATENA_EXPORT Stream {
   public:
    virtual ~Stream();
    // Calls f with this stream as the current one of its device in the calling thread.
    virtual void run(const catena::Function<void()>& f) = 0;
  };
  // Returns a new stream, whose work is ordered by points only.
  virtual catena::Owned<Stream> new_stream(Device device) = 0;
  // Returns the point in the work of the stream that is current in the calling thread.
  virtual catena::Owned<Point> point(Device device) = 0;
};

}  // namespace autograd
