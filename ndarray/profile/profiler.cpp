#include <catena/ndarray/profile/profiler.h>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/device/device.h>

namespace nd {
namespace {

void call(cuda::api::cu_result (*function)(), const char* name) {
  catena::check<catena::NotImplementedError>(function != nullptr, name, cuda::driver().path, " has no such function");
  const Device device = current_device();
  cuda::use_device(device.kind == Device::Kind::cuda ? device.id : 0);
  cuda::check(function(), name);
}

}  // namespace

namespace profiler {

void start() { call(cuda::driver().profiler_start, cuda::api::DriverNames::profiler_start); }
void stop() { call(cuda::driver().profiler_stop, cuda::api::DriverNames::profiler_stop); }

void initialize(const std::string& config_file, const std::string& output_file, OutputMode) {
  catena::fail<catena::NotImplementedError>("profiler::initialize", "CUDA cannot be given the configuration ",
                                            config_file, " and the output ", output_file,
                                            " any more; the tool that profiles takes them");
}

}  // namespace profiler

// A destructor cannot report a failure, and collection ends with the program in any case.
ProfileScope::~ProfileScope() {
  if (cuda::is_healthy(current_device().id) && cuda::driver().profiler_stop != nullptr) cuda::driver().profiler_stop();
}

}  // namespace nd
