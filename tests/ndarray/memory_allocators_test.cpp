// Blocks, pools above an allocator, and the allocator of arrays, as the reference has them.
#include <catena/ndarray/memory/allocator_pool.h>

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <catena/ndarray/memory/memory_pool.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/counting_backend.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::MemoryPointer;
using nd::cuda::MemoryPool;
using nd::cuda::SingleDeviceMemoryPool;
using test::message_of;

bool has_cuda() { return nd::is_available(nd::Device::Kind::cuda); }

// Raw allocation that keeps the sizes asked for, and has no more memory than it is told.
struct Source {
  std::vector<std::size_t> sizes;
  std::size_t left = std::size_t(-1);
  std::size_t live = 0;

  MemoryPointer operator()(std::size_t size) {
    sizes.push_back(size);
    if (size > left) throw nd::OutOfMemoryError("source: no more");
    left -= size;
    ++live;
    MemoryPointer block = nd::raw_alloc(size);
    std::byte* const data = block.ptr();
    return MemoryPointer(nd::wrap_storage(data, size, block.device(), [this, block, size]() mutable {
      block = {};
      left += size;
      --live;
    }));
  }
};

int warnings = 0;
// Counts warnings while it lives.
struct CountWarnings {
  CountWarnings() { warnings = 0; }
  ~CountWarnings() { nd::set_warning_handler(before); }
  nd::WarningHandler before = nd::set_warning_handler([](std::string_view, std::string_view) { ++warnings; });
};

BOOST_AUTO_TEST_SUITE(memory_allocators)

BOOST_AUTO_TEST_CASE(raw_blocks) {
  MemoryPointer p;
  {
    const nd::Memory block(100);
    BOOST_TEST(block.size() == 100u);
    BOOST_TEST((block.device() == std::optional(nd::current_device())));
    BOOST_TEST(static_cast<std::uintptr_t>(block) == reinterpret_cast<std::uintptr_t>(block.ptr()));
    p = MemoryPointer(block, 40);
    BOOST_TEST(static_cast<std::uintptr_t>(p) == static_cast<std::uintptr_t>(block) + 40);
    BOOST_TEST(p.size() == 60u);
  }
  p.memset(3, 60);  // the block lives on
  const nd::Memory nothing(0);
  BOOST_TEST(nothing.ptr() == nullptr);
  BOOST_TEST(static_cast<std::uintptr_t>(nothing) == 0u);
  BOOST_TEST(!nothing.device());
  BOOST_TEST(message_of<nd::RuntimeError>([&] { p.free(); }) ==
             "free: the memory is no block of a MemoryPool or PinnedMemoryPool");
}

BOOST_AUTO_TEST_CASE(blocks_of_the_same_rounded_size_are_reused) {
  Source source;
  const MemoryPool pool([&](std::size_t size) { return source(size); });
  BOOST_TEST(pool.n_free_blocks() == 0u);
  pool.free_all_blocks();
  BOOST_TEST(!pool.malloc(0));
  BOOST_TEST(source.sizes.empty());
  std::byte* address;
  {
    const MemoryPointer p = pool.malloc(1);
    address = p.ptr();
    BOOST_TEST(p.size() == 1u);
    BOOST_TEST((source.sizes == std::vector<std::size_t>{512}));
    BOOST_TEST(pool.n_free_blocks() == 0u);
  }
  BOOST_TEST(pool.n_free_blocks() == 1u);
  {
    const MemoryPointer other = pool.malloc(513), same = pool.malloc(512);
    BOOST_TEST(same.ptr() == address);
    BOOST_TEST((source.sizes == std::vector<std::size_t>{512, 1024}));
  }
  BOOST_TEST(pool.n_free_blocks() == 2u);
  BOOST_TEST(source.live == 2u);
  pool.free_all_blocks();
  BOOST_TEST(pool.n_free_blocks() == 0u);
  BOOST_TEST(source.live == 0u);
  BOOST_CHECK_THROW(MemoryPool(nd::cuda::MemoryAllocator()), nd::TypeError);
  const MemoryPool raw;  // above raw allocation
  const MemoryPointer p = raw.malloc(7);
  p.memset(9, 7);
  BOOST_CHECK_THROW(p.memset(9, 8), nd::ValueError);
}

// Streams have blocks of their own: another stream may still be at work with what was freed.
BOOST_AUTO_TEST_CASE(a_block_returns_to_its_stream) {
  const MemoryPool pool;
  std::byte* const address = pool.malloc(100).ptr();
  const nd::Stream stream;
  if (nd::current_device().kind == nd::Device::Kind::cuda) {
    const nd::StreamScope on(stream);
    BOOST_TEST(pool.malloc(100).ptr() != address);
  }
  BOOST_TEST(pool.malloc(100).ptr() == address);
}

BOOST_AUTO_TEST_CASE(explicit_frees) {
  Source source;
  const SingleDeviceMemoryPool pool([&](std::size_t size) { return source(size); });
  const MemoryPointer p = pool.malloc(100), same = p;
  std::byte* const address = p.ptr();
  p.free();
  BOOST_TEST(pool.n_free_blocks() == 1u);
  p.free();  // harmless
  same.free();
  BOOST_TEST(pool.n_free_blocks() == 1u);
  BOOST_TEST(p.size() == 0u);
  BOOST_CHECK_THROW(same.memset(1, 1), nd::ValueError);  // the block is another's now
  const MemoryPointer q = pool.malloc(100);
  BOOST_TEST(q.ptr() == address);
  pool.free(q.ptr());
  BOOST_TEST(pool.n_free_blocks() == 1u);
  for (const void* unknown : {static_cast<const void*>(address), static_cast<const void*>(&source)})
    BOOST_TEST(test::contains(message_of<nd::RuntimeError>([&] { pool.free(unknown); }),
                              "is not the address of a block in use: it is unknown or was freed before"));
  const SingleDeviceMemoryPool other;
  const MemoryPointer of_other = other.malloc(10);
  BOOST_CHECK_THROW(pool.free(of_other.ptr()), nd::RuntimeError);
  of_other.memset(1, 10);
}

// F57: what is in use when its pool goes stays valid, and goes back to the allocator at its end.
BOOST_AUTO_TEST_CASE(blocks_outlive_their_pool) {
  Source source;
  MemoryPointer kept;
  {
    const MemoryPool pool([&](std::size_t size) { return source(size); });
    pool.malloc(5000);
    kept = pool.malloc(100);
    BOOST_TEST(source.live == 2u);
  }
  BOOST_TEST(source.live == 1u);
  kept.memset(1, 100);
  kept = {};
  BOOST_TEST(source.live == 0u);
}

// F48: free blocks are released, silently, before memory is short.
BOOST_AUTO_TEST_CASE(out_of_memory) {
  const CountWarnings counted;
  Source source;
  source.left = 4096;
  const MemoryPool pool([&](std::size_t size) { return source(size); });
  { const MemoryPointer a = pool.malloc(1024), b = pool.malloc(2048); }
  BOOST_TEST(pool.n_free_blocks() == 2u);
  {
    const MemoryPointer large = pool.malloc(4000);
    BOOST_TEST(pool.n_free_blocks() == 0u);
    BOOST_TEST(source.sizes.size() == 4u);  // the last one twice
    BOOST_TEST(message_of<nd::OutOfMemoryError>([&] { pool.malloc(1); }) == "source: no more");
    BOOST_TEST(source.sizes.size() == 5u);  // there was nothing to release
  }
  // Other errors are the caller's at once.
  int calls = 0;
  const MemoryPool broken([&](std::size_t) -> MemoryPointer {
    ++calls;
    throw nd::ValueError("broken");
  });
  BOOST_TEST(message_of<nd::ValueError>([&] { broken.malloc(1); }) == "broken");
  BOOST_TEST(calls == 1);
  const MemoryPool mean([](std::size_t size) { return nd::raw_alloc(size / 2); });
  BOOST_TEST(message_of<nd::ValueError>([&] { mean.malloc(512); }) ==
             "MemoryPool: the allocator was asked for 512 bytes and gave a block of 256");
  // The pool of arrays, too.
  test::CountingBackend backend;
  backend.capacity = std::size_t(8) << 20;
  nd::MemoryPool arrays(backend);
  catena::release(arrays.allocate(std::size_t(6) << 20));
  catena::release(arrays.allocate(std::size_t(8) << 20));
  BOOST_TEST(warnings == 0);
}

BOOST_AUTO_TEST_CASE(the_old_name_warns) {
  const CountWarnings counted;
  const MemoryPool pool;
  const SingleDeviceMemoryPool single;
  pool.malloc(10);
  single.malloc(10);
  pool.free_all_free();
  single.free_all_free();
  BOOST_TEST(pool.n_free_blocks() + single.n_free_blocks() == 0u);
  BOOST_TEST(warnings == 2);
}

BOOST_AUTO_TEST_CASE(devices_have_free_blocks_of_their_own) {
  if (nd::device_count(nd::Device::Kind::cuda) < 2) {
    std::cout << "skipped: there are no two CUDA devices\n";
    return;
  }
  const MemoryPool pool;
  const nd::Device one{nd::Device::Kind::cuda, 1}, zero{nd::Device::Kind::cuda, 0};
  {
    const nd::DeviceScope on(one);
    BOOST_TEST((pool.malloc(100).device() == one));
    BOOST_TEST(pool.n_free_blocks() == 1u);
  }
  const nd::DeviceScope on(zero);
  BOOST_TEST(pool.n_free_blocks() == 0u);
  BOOST_TEST((pool.malloc(100).device() == zero));
  pool.free_all_blocks();
  BOOST_TEST(pool.n_free_blocks() == 0u);
  const nd::DeviceScope again(one);
  BOOST_TEST(pool.n_free_blocks() == 1u);
}

BOOST_AUTO_TEST_CASE(arrays_from_a_pool) {
  Source source;
  struct Restore {
    ~Restore() { nd::set_allocator(nd::pool_allocator()); }
  } const restore;
  const MemoryPool pool([&](std::size_t size) { return source(size); });
  nd::cuda::set_allocator(pool);
  {
    const nd::Array a = nd::full({1000}, 2.f);
    BOOST_TEST((source.sizes == std::vector<std::size_t>{4096}));
    BOOST_TEST((a + 1).to_vector<float>() == std::vector<float>(1000, 3.f));
    BOOST_TEST(pool.n_free_blocks() == 1u);
  }
  BOOST_TEST(pool.n_free_blocks() == 2u);
  // A block from within a larger one, and one that is too small.
  const nd::Memory large(1 << 16);
  nd::cuda::set_allocator([&](std::size_t) { return MemoryPointer(large, 1024); });
  BOOST_TEST((nd::zeros(3).data().ptr() == large.ptr() + 1024));
  nd::cuda::set_allocator([](std::size_t size) { return nd::raw_alloc(size - 1); });
  BOOST_CHECK_THROW(nd::zeros(3), nd::ValueError);
  nd::cuda::set_allocator();  // raw
  const std::size_t used = nd::memory_pool().used_bytes();
  const nd::Array b = nd::zeros(100);
  BOOST_TEST(nd::memory_pool().used_bytes() == used);
  nd::set_allocator(nd::pool_allocator());
  const nd::Array c = nd::zeros(100);
  BOOST_TEST(nd::memory_pool().used_bytes() > used);
  BOOST_TEST((nd::memory_pool().malloc(10).device() == nd::current_device()));
}

BOOST_AUTO_TEST_CASE(page_locked_blocks) {
  if (!has_cuda()) {
    BOOST_TEST(message_of<nd::RuntimeError>([] { nd::PinnedMemory(1); }).starts_with("CUDA is unavailable: "));
    return;
  }
  MemoryPointer p;
  {
    const nd::PinnedMemory block(100, nd::host_alloc_portable | nd::host_alloc_mapped);
    BOOST_TEST(block.size() == 100u);
    BOOST_TEST(static_cast<std::uintptr_t>(block) == reinterpret_cast<std::uintptr_t>(block.ptr()));
    p = nd::PinnedMemoryPointer(block, 60);
    BOOST_TEST(p.size() == 40u);
  }
  std::memset(p.ptr(), 1, p.size());
  BOOST_TEST((p.device() == nd::cpu_device));
  const nd::PinnedMemory nothing(0);
  BOOST_TEST(nothing.ptr() == nullptr);
  BOOST_CHECK_THROW(nd::PinnedMemory(1, 1u << 20), nd::CudaDriverError);
  if (!cuda_device::Control::available()) return;
  const cuda_device::Control control;
  const std::uint64_t freed = control.calls("cuMemFreeHost");
  p = {};
  BOOST_TEST(control.calls("cuMemFreeHost") == freed + 1);
}

BOOST_AUTO_TEST_CASE(pools_of_page_locked_memory) {
  // Any memory will do for what the pool does.
  std::vector<std::size_t> sizes;
  std::size_t left = 4096;
  const nd::PinnedMemoryPool pool([&](std::size_t size) {
    sizes.push_back(size);
    if (size > left) throw nd::OutOfMemoryError("no more");
    left -= size;
    auto* const data = new std::byte[size];
    return MemoryPointer(nd::wrap_storage(data, size, nd::cpu_device, [&left, data, size] {
      delete[] data;
      left += size;
    }));
  });
  const MemoryPointer p = pool.malloc(700);
  BOOST_TEST((sizes == std::vector<std::size_t>{1024}));
  BOOST_TEST(p.size() == 700u);
  pool.free(p.ptr());
  BOOST_TEST(pool.n_free_blocks() == 1u);
  p.free();  // twice is harmless
  BOOST_CHECK_THROW(pool.free(&sizes), nd::RuntimeError);
  pool.malloc(3000);
  BOOST_TEST(pool.n_free_blocks() == 2u);
  pool.malloc(4096);  // after the others are released
  BOOST_TEST((sizes == std::vector<std::size_t>{1024, 3072, 4096, 4096}));
  BOOST_TEST(pool.n_free_blocks() == 1u);
  pool.free_all_blocks();
  BOOST_TEST(left == 4096u);
  BOOST_CHECK_THROW(pool.malloc(5000), nd::OutOfMemoryError);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
