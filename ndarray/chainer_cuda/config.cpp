#include <catena/ndarray/chainer_cuda/config.h>

#include <cstdlib>
#include <cstring>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/compile/disk_cache.h>
#include <catena/ndarray/compile/private_files.h>
#include <catena/ndarray/cpu/gemm.h>
#include <catena/ndarray/cpu/host_compiler.h>
#include <catena/ndarray/cuda/compiler/kernel_cache.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/ndarray/cuda/vendor/blas.h>
#include <catena/ndarray/cuda/vendor/cublas.h>
#include <catena/ndarray/cuda/vendor/cufft.h>
#include <catena/ndarray/cuda/vendor/curand_library.h>
#include <catena/ndarray/cuda/vendor/cusparse.h>
#include <catena/ndarray/cuda/vendor/nccl.h>
#include <catena/ndarray/cuda/vendor/nvjpeg.h>
#include <catena/ndarray/cuda/vendor/solver.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/profile/nvtx.h>

namespace nd::internal {
namespace {

using catena::concat;

// ---- libraries: version and file ----
std::string onednn() {
  const std::string text = cpu::onednn_description();
  return text.empty() ? "not built in: float32 products use OpenBLAS, or the library's own loops" : text;
}
std::string openblas() {
  const std::string text = cpu::openblas_description();
  if (text.empty()) return "not built in: no LAPACK, and float64 products use the library's own loops";
  return cpu::openblas_knows_processor() ? text : text + "; it is older than the processor";
}
std::string driver() {
  const cuda::Driver& d = cuda::driver();
  return concat(d.version / 1000, '.', d.version % 1000 / 10, ", ", d.path);
}
std::string nvrtc() {
  const cuda::Nvrtc& n = cuda::nvrtc();
  return concat(n.major_version, '.', n.minor_version, ", ", n.path, ", architectures ", n.architectures.front(),
                " to ", n.architectures.back());
}
std::string cublaslt() { return concat(cuda::cublaslt().get_version(), ", ", cuda::cublaslt().path); }
std::string cublas() { return cuda::cublas_library().path; }
std::string cusparse() { return cuda::cusparse().path; }
std::string cufft() { return concat(cuda::cufft().version, ", ", cuda::cufft().path); }
std::string curand() { return concat(cuda::curand().version, ", ", cuda::curand().path); }
std::string nvjpeg() { return concat(cuda::nvjpeg().version, ", ", cuda::nvjpeg().path); }
std::string cusolver() { return cuda::cusolver().path; }
std::string nccl() { return concat(cuda::nccl().version, ", ", cuda::nccl().path); }

// ---- devices and kernels ----
// Describes a device; if it does not respond, returns the reason, which is important for bug reports.
std::string describe(Device device) {
  try {
    const DeviceProperties& p = properties(device);
    std::string text = p.name;
    if (p.arch != 0) text += concat(", compute capability ", p.arch / 10, '.', p.arch % 10);
    const MemoryInfo memory = memory_info(device);
    return text + concat(", ", p.processors, " processors, ", memory.free_bytes >> 20, " of ", memory.total_bytes >> 20,
                         " MiB free");
  } catch (const catena::Error& e) {
    return e.what();
  }
}
std::string cuda_kernels() {
  const cuda::KernelCacheStatistics s = cuda::kernel_cache_statistics();
  return concat(s.compilations, " compiled, ", s.disk_hits, " found on disk, ", s.bad_records, " damaged, ",
                s.write_failures, " not written");
}
std::string host_kernels() {
  const cpu::HostCompilerStatistics s = cpu::host_compiler_statistics();
  return concat(s.compilations, " compiled, ", s.disk_hits, " found on disk, ", s.bad_records, " damaged");
}

// ---- environment ----
std::string cache_folder() {
  const std::string folder = cuda::disk_cache_settings().directory;
  return folder.empty() ? "no cache" : folder;
}
std::string shared_kernels() {
  std::string text;
  for (const std::string& folder : cuda::shared_folders()) {
    const std::string problem = compile::check_private_folder(folder);
    text += concat(text.empty() ? "" : ", ", problem.empty() ? folder : concat("none: ", problem));
  }
  return text.empty() ? "none" : text;
}
std::string cache_limit() { return concat(cuda::disk_cache_settings().limit_bytes, " bytes"); }
std::string default_device_name() { return concat(default_device()); }
std::string tf32() { return cuda::tf32_allowed() ? "allowed" : "not allowed"; }
std::string folders() {
  if (const char* only = std::getenv("CATENA_CUDA_LIBRARIES"); only != nullptr && *only != '\0') return only;
  const cuda::LibraryFolders all = cuda::library_folders();
  std::string text;
  for (const std::string& folder : all.given) text += folder + ", ";
  text += "the dynamic linker's";
  for (const std::string& folder : all.found) text += ", " + folder;
  return text;
}
std::string profiler() { return nvtx::is_listening() ? "a profiler listens" : "no profiler"; }

}  // namespace

void list_config(catena::internal::ConfigList& list) {
  list.add("libraries", "oneDNN", onednn);
  list.add("libraries", "OpenBLAS", openblas);
  list.add("libraries", "CUDA driver", driver);
  list.add("libraries", "NVRTC", nvrtc);
  list.add("libraries", "cuBLASLt", cublaslt);
  list.add("libraries", "cuBLAS", cublas);
  list.add("libraries", "cuRAND", curand);
  list.add("libraries", "cuSOLVER", cusolver);
  list.add("libraries", "cuFFT", cufft);
  list.add("libraries", "cuSPARSE", cusparse);
  list.add("libraries", "nvJPEG", nvjpeg);
  list.add("libraries", "NCCL", nccl);
  list.add("devices", "cpu:0", describe(cpu_device));
  for (int i = 0; i < device_count(Device::Kind::cuda); ++i)
    list.add("devices", concat("cuda:", i), describe(Device{Device::Kind::cuda, static_cast<std::int16_t>(i)}));
  list.add("kernels", "on the GPU", cuda_kernels);
  list.add("kernels", "from text on the CPU", host_kernels);

  list.add_variable("CATENA_DEVICE", default_device_name);
  list.add_variable("CATENA_CACHE_DIR", cache_folder);
  list.add_variable("CUPY_CACHE_DIR", cache_folder);
  list.add_variable("CATENA_CACHE_LIMIT", cache_limit);
  list.add_variable("CATENA_SHARED_KERNELS", shared_kernels);
  list.add_variable("CATENA_CUDA_LIBRARIES", folders);
  for (const char* name : {"CUDA_PATH", "CUDA_HOME", "XDG_CACHE_HOME", "HOME", "PATH", "CATENA_LAUNCH_BLOCKING",
                           "CATENA_DUMP_KERNELS", "CATENA_KERNEL_STATISTICS", "CATENA_PER_THREAD_DEFAULT_STREAM"})
    list.add_variable(name);
  list.add_variable("CATENA_ALLOW_TF32", tf32);
  list.add_variable("CATENA_TIME_PRODUCTS");
  for (const char* name : {"CATENA_HOST_COMPILER", "CXX", "TMPDIR", "CATENA_COMPILE_FUSED", "OPENBLAS_CORETYPE",
                           "CUPY_TEST_FULL_COMBINATION"})
    list.add_variable(name);
  list.add_variable("NVTX_INJECTION64_PATH", profiler);
}

}  // namespace nd::internal
