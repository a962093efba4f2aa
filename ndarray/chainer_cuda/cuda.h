// The names of Chainer's module `cuda`: nd::cuda::Device, nd::cuda::Stream, nd::cuda::to_gpu... The names of streams,
// events and memory are those of namespace nd.
//
// Replacements for the names of that module before version 1.3, which are not available:
//   shutdown, init                      nothing: devices and libraries are opened at their first use
//   mem_alloc                           nd::alloc, nd::Memory
//   use_device, using_device            nd::cuda::Device::use, nd::cuda::Device::scope
//   copy_async, to_gpu_async,           the stream argument of copy, to_gpu and to_cpu
//   to_cpu_async
//   get_generator, seed                 nd::random::get_random_state, nd::random::seed
//   IPCEvent, IPCArrayHandle            events with interprocess = true; memory is not shared between processes
#pragma once

#include <catena/ndarray/chainer_cuda/array_module.h>
#include <catena/ndarray/chainer_cuda/deprecated.h>
#include <catena/ndarray/chainer_cuda/device.h>
#include <catena/ndarray/chainer_cuda/kernels.h>
#include <catena/ndarray/chainer_cuda/transfer.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/memory/allocator_pool.h>
#include <catena/ndarray/memory/async_pool.h>
#include <catena/ndarray/memory/managed_memory.h>
#include <catena/ndarray/memory/memory.h>
#include <catena/ndarray/memory/memory_pool.h>
#include <catena/ndarray/profile/nvtx.h>
#include <catena/ndarray/profile/profiler.h>

namespace nd::cuda {

// Chainer's name of the class of arrays.
using ndarray = nd::Array;

using nd::Event;
using nd::get_elapsed_time;
using nd::Stream;

using nd::alloc;
using nd::alloc_pinned_memory;
using nd::Memory;
using nd::memory_pool;
using nd::MemoryPointer;
using nd::pinned_memory_pool;
using nd::PinnedMemory;
using nd::PinnedMemoryPointer;
using nd::PinnedMemoryPool;
using nd::set_pinned_memory_allocator;

namespace nvtx = nd::nvtx;
namespace profiler = nd::profiler;

}  // namespace nd::cuda
