// Stream-ordered allocation and managed memory, as blocks and as the memory of arrays. On the CPU the same calls give
// memory of the host.
#include <catena/ndarray/memory/async_pool.h>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/memory/managed_memory.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::ManagedMemory;
using nd::MemoryAsyncPool;
using nd::MemoryPointer;
using test::contains;
using test::message_of;

bool on_cuda() { return nd::current_device().kind == nd::Device::Kind::cuda; }
bool on_software_device() { return on_cuda() && cuda_device::Control::available(); }
constexpr int kOutOfMemory = 2;

// A pool of its own, so that other users of the device's pool do not matter.
MemoryAsyncPool own_pool(std::optional<std::size_t> threshold = {}) {
  return MemoryAsyncPool({.pool_handles = nd::PoolHandles::create, .release_threshold = threshold});
}

// While it lives, arrays come from an allocator.
struct Allocated {
  template <class A> explicit Allocated(const A& allocator) { nd::set_allocator(allocator); }
  ~Allocated() { nd::set_allocator(nd::pool_allocator()); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_async)

BOOST_AUTO_TEST_CASE(blocks) {
  const MemoryAsyncPool pool = own_pool(1 << 20);
  BOOST_TEST(!pool.malloc(0));
  MemoryPointer p = pool.malloc(1000);
  BOOST_TEST(p.size() == 1000u);
  BOOST_TEST((p.device() == nd::current_device()));
  p.memset(7, 1000);
  std::vector<unsigned char> bytes(1000);
  p.copy_to_host(bytes.data(), 1000);
  BOOST_TEST(std::count(bytes.begin(), bytes.end(), 7) == 1000);
  const MemoryPointer q = nd::malloc_async(64);
  q.memset(1, 64);
  BOOST_CHECK_THROW(q.memset(1, 65), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(statistics) {
  if (!on_cuda()) {
    const MemoryAsyncPool pool;  // the pool of the host
    const MemoryPointer p = pool.malloc(100000);
    BOOST_TEST(pool.used_bytes() == nd::memory_pool().used_bytes());
    BOOST_TEST(pool.total_bytes() == nd::memory_pool().total_bytes());
    BOOST_TEST(pool.peak_used_bytes() >= pool.used_bytes());
    BOOST_TEST(pool.peak_total_bytes() >= pool.total_bytes());
    pool.reset_peaks();
    pool.set_release_threshold(5);
    BOOST_TEST(pool.release_threshold() == 0u);
    pool.free_all_blocks();
    return;
  }
  const MemoryAsyncPool pool = own_pool(std::size_t(1) << 30);
  BOOST_TEST(pool.release_threshold() == std::size_t(1) << 30);
  BOOST_TEST(pool.used_bytes() == 0u);
  MemoryPointer p = pool.malloc(100000), q = pool.malloc(50000);
  BOOST_TEST(pool.used_bytes() >= 150000u);
  BOOST_TEST(pool.total_bytes() == pool.used_bytes() + pool.free_bytes());
  p = {};
  nd::synchronize();
  BOOST_TEST(pool.used_bytes() < 150000u);
  BOOST_TEST(pool.used_bytes() >= 50000u);
  BOOST_TEST(pool.free_bytes() >= 100000u);  // below the threshold
  BOOST_TEST(pool.peak_used_bytes() >= 150000u);
  pool.reset_peaks();
  BOOST_TEST(pool.peak_used_bytes() == pool.used_bytes());
  q = {};
  nd::synchronize();
  pool.free_all_blocks();
  BOOST_TEST(pool.total_bytes() == 0u);
  BOOST_TEST(pool.peak_total_bytes() > 0u);
  pool.set_release_threshold(0);
  BOOST_TEST(pool.release_threshold() == 0u);
  p = pool.malloc(100000);
  p = {};
  nd::synchronize();
  BOOST_TEST(pool.free_bytes() == 0u);  // a synchronization returns what exceeds the threshold
}

BOOST_AUTO_TEST_CASE(pools_of_the_driver) {
  if (!on_cuda()) return;
  const MemoryAsyncPool current, standard({.pool_handles = nd::PoolHandles::device_default}), own = own_pool();
  const std::size_t before = current.used_bytes();
  const MemoryPointer p = standard.malloc(1 << 16), q = nd::malloc_async(1 << 16);
  BOOST_TEST(current.used_bytes() >= before + (2 << 16));  // the current pool of a device is its default pool
  BOOST_TEST(own.used_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(blocks_outlive_their_pool) {
  MemoryPointer p;
  Array a;
  {
    const MemoryAsyncPool pool = own_pool();
    p = pool.malloc(4096);
    const Allocated from(pool);
    a = nd::arange(100);
  }
  p.memset(3, 4096);
  BOOST_TEST(a.sum().item<int>() == 4950);
}

BOOST_AUTO_TEST_CASE(arrays) {
  const MemoryAsyncPool pool = own_pool();
  const Allocated from(pool);
  Array a = nd::arange(10000, nd::float32), b = a * 2;
  if (on_cuda()) BOOST_TEST(pool.used_bytes() >= 80000u);
  BOOST_TEST(nd::sum(b - a).item<float>() == 49995000.0f);
  const Array of_host = nd::ones({3}).to_device(nd::cpu_device);  // the same allocator serves all devices
  BOOST_TEST(of_host(2).item<int>() == 1);
  a = b = Array();
  nd::synchronize();
  if (on_cuda()) BOOST_TEST(pool.used_bytes() < 40000u);
}

// On the device, a free waits for the work of other streams that use the array: the software device would report a use
// of freed memory.
BOOST_AUTO_TEST_CASE(frees_follow_the_work_of_all_streams) {
  const MemoryAsyncPool pool = own_pool();
  const Allocated from(pool);
  const nd::Stream owner({.non_blocking = true}), other({.non_blocking = true});
  if (on_software_device()) cuda_device::Control().reset_records();
  Array sum;
  {
    Array a;
    {
      const nd::StreamScope on(owner);
      a = nd::full({5000}, 3.0);
    }
    other.wait_event(owner.record());
    const nd::StreamScope on(other);
    sum = nd::sum(a);
  }  // `a` is freed on `owner` while `other` has not begun
  if (on_software_device()) BOOST_TEST(cuda_device::Control().calls("cuMemFreeAsync") > 0u);
  Array next;
  {
    const nd::StreamScope on(owner);
    next = nd::full({5000}, 9.0);
    owner.synchronize();
  }
  const nd::StreamScope on(other);
  BOOST_TEST(sum.item<double>() == 15000.0);
}

BOOST_AUTO_TEST_CASE(nothing_waits) {
  if (!on_software_device()) return;
  cuda_device::Control control;
  const MemoryAsyncPool pool = own_pool();
  MemoryPointer p = pool.malloc(100);
  control.reset_records();
  for (int k = 0; k < 3; ++k) p = pool.malloc(1000);
  p = {};
  BOOST_TEST(control.synchronisations().empty());
  BOOST_TEST(control.calls("cuMemAlloc_v2") == 0u);
}

BOOST_AUTO_TEST_CASE(no_memory) {
  if (!on_software_device()) return;
  cuda_device::Control control;
  const MemoryAsyncPool pool = own_pool();
  const MemoryPointer held = pool.malloc(512);
  control.fail("cuMemAllocFromPoolAsync", 1, kOutOfMemory);
  BOOST_TEST(pool.malloc(100).size() == 100u);  // after the pool of arrays has given its free blocks back
  nd::synchronize();                            // that block is freed
  control.fail("cuMemAllocFromPoolAsync", 1, kOutOfMemory, true);
  const std::string text = message_of<nd::OutOfMemoryError>([&] { pool.malloc(12345); });
  control.clear_faults();
  BOOST_TEST(contains(text, "MemoryAsyncPool: out of memory on cuda:0: requested 12345 bytes, used 512, pooled "));
  BOOST_TEST(contains(text, ", free on the device "));
  {
    const Allocated from(pool);
    control.fail("cuMemAllocFromPoolAsync", 1, kOutOfMemory, true);
    BOOST_CHECK_THROW(nd::empty({1000}), nd::OutOfMemoryError);
    control.clear_faults();
  }
  control.fail("cuMemPoolCreate", 1, 801);
  BOOST_CHECK_THROW(own_pool().malloc(1), nd::CudaError);
  BOOST_TEST(own_pool().malloc(1).size() == 1u);
}

// In a captured graph, memory belongs to the graph; arrays of the pool that the graph uses live on.
BOOST_AUTO_TEST_CASE(graphs) {
  if (!on_cuda()) return;
  const MemoryAsyncPool pool = own_pool();
  const Allocated from(pool);
  Array x = nd::ones({1000}, nd::float32), y, before = nd::full({1000}, 5.0f, nd::float32);
  const std::size_t used = pool.used_bytes();
  nd::cuda::Graph graph([&] {
    y = x * 2 + before;
    before = Array();
  });
  BOOST_TEST(pool.used_bytes() == used);
  BOOST_TEST(y(999).item<float>() == 7.0f);
  x(nd::ellipsis) = 10;
  graph.replay();
  BOOST_TEST(y(999).item<float>() == 25.0f);
}

BOOST_AUTO_TEST_CASE(threads_share_a_pool) {
  const MemoryAsyncPool pool = own_pool();
  std::vector<std::thread> threads;
  std::vector<double> sums(4);
  for (std::size_t t = 0; t < sums.size(); ++t)
    threads.emplace_back([&, t, device = nd::current_device()] {
      const nd::DeviceScope on(device);
      const nd::StreamScope own(nd::Stream::per_thread());
      for (int k = 0; k < 20; ++k) {
        const MemoryPointer p = pool.malloc(8 * 100);
        const Array a = nd::ndarray({100}, nd::float64, p);
        a.fill(double(t));
        sums[t] += nd::sum(a).item<double>();
      }
    });
  for (std::thread& t : threads) t.join();
  for (std::size_t t = 0; t < sums.size(); ++t) BOOST_TEST(sums[t] == 2000.0 * double(t));
}

// ---- managed memory -----------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(managed_blocks) {
  const ManagedMemory block(4096), none(0);
  BOOST_TEST(block.size() == 4096u);
  BOOST_TEST((block.device() == std::optional(nd::current_device())));
  BOOST_TEST(none.ptr() == nullptr);
  BOOST_TEST(!none.device());
  const MemoryPointer p = block;
  p.memset(9, 4096);
  BOOST_TEST(int(block.ptr()[4095]) == 9);  // one address for the host and the device
  block.ptr()[0] = std::byte(1);
  BOOST_TEST(nd::ndarray({2}, nd::uint8, p).to_vector<std::uint8_t>()[0] == 1);
  BOOST_TEST((nd::device_from_pointer(block.ptr()) == nd::current_device()));
  BOOST_TEST(!nd::malloc_managed(0));
}

BOOST_AUTO_TEST_CASE(managed_arrays) {
  for (const bool pooled : {false, true}) {
    const nd::cuda::MemoryPool pool{nd::cuda::MemoryAllocator(&nd::malloc_managed)};
    std::optional<Allocated> from;
    if (pooled) from.emplace(pool);
    else from.emplace(&nd::malloc_managed);
    const Array a = nd::arange(1000, nd::int32) * 3;
    const nd::Stream stream;
    ManagedMemory(a.data()).prefetch(stream);
    ManagedMemory(a.data()).prefetch(stream, nd::cpu_device);
    ManagedMemory(a.data()).advise(nd::MemoryAdvice::set_preferred_location);
    ManagedMemory(a.data()).advise(nd::MemoryAdvice::unset_accessed_by, nd::cpu_device);
    nd::synchronize();
    BOOST_TEST(reinterpret_cast<const std::int32_t*>(a.data().ptr())[999] == 2997);
    BOOST_TEST(nd::sum(a).item<int>() == 1498500);
    if (on_software_device()) {
      BOOST_TEST(cuda_device::Control().calls("cuMemPrefetchAsync_v2") >= 2u);
      BOOST_TEST(cuda_device::Control().calls("cuMemAdvise_v2") >= 2u);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_managed_memory_refuses) {
  const ManagedMemory block(100);
  BOOST_CHECK_THROW(block.advise(static_cast<nd::MemoryAdvice>(7)), nd::ValueError);
  BOOST_CHECK_THROW(block.advise(static_cast<nd::MemoryAdvice>(0)), nd::ValueError);
  if (!on_cuda()) return;
  const nd::MemoryPointer other = nd::alloc(100);
  BOOST_TEST(contains(message_of<nd::ValueError>([&] { ManagedMemory(nd::MemoryPointer(other)); }),
                      "ManagedMemory: the memory is not managed: allocate it by nd::malloc_managed"));
  BOOST_CHECK_THROW(block.prefetch(nd::Stream::null_stream(nd::cpu_device)), nd::ValueError);
  const Array x = nd::ones({4});
  BOOST_TEST(contains(message_of<nd::RuntimeError>([&] {
                        nd::cuda::Graph([&] {
                          static_cast<void>(x * 2);
                          nd::malloc_managed(100);
                        });
                      }),
                      "malloc_managed: cannot be recorded in a CUDA graph"));
  if (!on_software_device()) return;
  cuda_device::Control control;
  control.fail("cuMemAllocManaged", 1, kOutOfMemory);
  BOOST_TEST(contains(message_of<nd::OutOfMemoryError>([] { nd::malloc_managed(777); }),
                      "malloc_managed: out of memory on cuda:0: requested 777 bytes, free on the device "));
  control.fail("cuMemPrefetchAsync_v2", 1, 801);
  BOOST_CHECK_THROW(block.prefetch(nd::Stream()), nd::CudaError);
}

BOOST_AUTO_TEST_SUITE_END()
