// Blocks and pointers by hand, on the device that tests run on.
#include <boost/test/unit_test.hpp>

#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/memory/memory.h>
#include <catena/ndarray/memory/memory_pool.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

std::vector<std::uint8_t> counting(std::size_t n, std::uint8_t first = 0) {
  std::vector<std::uint8_t> v(n);
  std::iota(v.begin(), v.end(), first);
  return v;
}
std::vector<std::uint8_t> content(const nd::MemoryPointer& p, std::size_t n) {
  std::vector<std::uint8_t> v(n);
  p.copy_to_host(v.data(), n);
  return v;
}

BOOST_AUTO_TEST_SUITE(memory)

BOOST_AUTO_TEST_CASE(pointers_share_their_block) {
  const nd::MemoryPointer p = nd::alloc(100);
  BOOST_TEST((p.device() == nd::current_device()));
  BOOST_TEST(p.size() == 100u);
  nd::MemoryPointer q = p + 40;
  BOOST_TEST(q.ptr() == p.ptr() + 40);
  BOOST_TEST((8 + q).ptr() == p.ptr() + 48);
  BOOST_TEST((q - 15).ptr() == p.ptr() + 25);
  q -= 40;
  q += 1;
  BOOST_TEST(q.ptr() == p.ptr() + 1);
  BOOST_TEST(q.mem() == p.mem());
  BOOST_TEST(q.size() == 99u);
  BOOST_TEST(p.mem()->refs.load() == 2u);
}

BOOST_AUTO_TEST_CASE(copies_and_fills) {
  for (const bool raw : {false, true}) {
    const nd::MemoryPointer a = raw ? nd::raw_alloc(64) : nd::alloc(64), b = nd::alloc(64);
    const auto values = counting(64);
    a.copy_from(values.data(), 64);
    BOOST_TEST(content(a, 64) == values);
    b.memset(7, 64);
    (b + 8).copy_from(a + 16, 24);
    auto expected = std::vector<std::uint8_t>(64, 7);
    std::copy_n(values.begin() + 16, 24, expected.begin() + 8);
    BOOST_TEST(content(b, 64) == expected);
    (b + 1).memset(250, 3);
    std::fill_n(expected.begin() + 1, 3, 250);
    BOOST_TEST(content(b, 64) == expected);
  }
}

BOOST_AUTO_TEST_CASE(asynchronous_copies_follow_their_stream) {
  const nd::Stream stream;
  const nd::MemoryPointer a = nd::alloc(5000), b = nd::alloc(5000);
  auto values = counting(5000, 3);
  const auto expected = values;
  a.copy_from_async(values.data(), 5000, stream);
  std::fill(values.begin(), values.end(), 0);  // ordinary memory: it was read already
  b.memset_async(1, 5000, stream);
  b.copy_from_async(a, 4000, stream);
  std::vector<std::uint8_t> out(5000);
  b.copy_to_host_async(out.data(), 5000, stream);
  stream.synchronize();
  BOOST_TEST(std::equal(out.begin(), out.begin() + 4000, expected.begin()));
  BOOST_TEST(std::all_of(out.begin() + 4000, out.end(), [](int v) { return v == 1; }));
}

BOOST_AUTO_TEST_CASE(nothing_of_size_0) {
  const nd::MemoryPointer p = nd::alloc(0), q = nd::raw_alloc(0);
  BOOST_TEST(!p);
  BOOST_TEST(p.ptr() == nullptr);
  BOOST_TEST(!q);
  p.copy_from(q, 0);
  p.copy_from(nullptr, 0);
  p.copy_to_host(nullptr, 0);
  p.memset(1, 0);
}

BOOST_AUTO_TEST_CASE(what_leaves_a_block_is_refused) {
  const nd::MemoryPointer p = nd::alloc(10);
  p.memset(5, 10);
  std::uint8_t host[32] = {};
  BOOST_TEST(test::message_of<catena::ValueError>([&] { (p + 4).copy_from(host, 7); }) ==
             "copy_from_host: 7 bytes at offset 4 leave a block of 10 bytes");
  BOOST_TEST(test::message_of<catena::ValueError>([&] { p.memset(0, 11); }) ==
             "memset: 11 bytes at offset 0 leave a block of 10 bytes");
  BOOST_TEST(test::message_of<catena::ValueError>([&] { (p - 1).copy_to_host(host, 1); }) ==
             "copy_to_host: 1 bytes at offset -1 leave a block of 10 bytes");
  BOOST_TEST(test::message_of<catena::ValueError>([&] { p.copy_from(nd::MemoryPointer(), 1); }) ==
             "copy_from: 1 bytes at offset 0 leave a block of 0 bytes");
  BOOST_TEST(content(p, 10) == std::vector<std::uint8_t>(10, 5));
}

BOOST_AUTO_TEST_CASE(pinned_memory) {
  if (!nd::is_available(nd::Device::Kind::cuda)) {
    BOOST_TEST(test::message_of<catena::RuntimeError>([] {
                 nd::alloc_pinned_memory(1);
               }).starts_with("CUDA is unavailable: "));
    return;
  }
  std::byte* address;
  {
    const nd::MemoryPointer pinned = nd::alloc_pinned_memory(1000);
    address = pinned.ptr();
    const nd::MemoryPointer on_device = nd::alloc(1000);
    const auto values = counting(1000);
    std::memcpy(pinned.ptr(), values.data(), 1000);
    on_device.copy_from(pinned, 1000);
    BOOST_TEST(content(on_device, 1000) == values);
    std::memset(pinned.ptr(), 0, 1000);
    on_device.copy_to_host(pinned.ptr(), 1000);
    BOOST_TEST(std::memcmp(pinned.ptr(), values.data(), 1000) == 0);
    BOOST_TEST((nd::device_from_pointer(on_device.ptr()) == on_device.device()));
    BOOST_TEST((nd::device_from_pointer(pinned.ptr()) == nd::cpu_device));
  }
  BOOST_TEST(nd::alloc_pinned_memory(900).ptr() == address);  // the same rounded size
}

// Longer copies than one buffer of page-locked memory; the source changes at once.
BOOST_AUTO_TEST_CASE(long_copies) {
  for (const std::int64_t n : {(4 << 20) - 1, 4 << 20, (4 << 20) + 1, (9 << 20) + 77}) {
    std::vector<std::uint8_t> values(static_cast<std::size_t>(n));
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<std::uint8_t>(k * 2654435761u >> 13);
    std::vector<std::uint8_t> source = values;
    const nd::MemoryPointer p = nd::alloc(static_cast<std::size_t>(n));
    p.copy_from_async(source.data(), static_cast<std::size_t>(n), nd::Stream::null_stream());
    std::fill(source.begin(), source.end(), std::uint8_t(0));
    BOOST_TEST((content(p, values.size()) == values), n << " bytes");
  }
}

BOOST_AUTO_TEST_CASE(pinned_arrays) {
  if (!nd::is_available(nd::Device::Kind::cuda)) {
    BOOST_TEST(
        test::message_of<catena::RuntimeError>([] { nd::empty_pinned({2}); }).starts_with("CUDA is unavailable: "));
    return;
  }
  const nd::Array zeros = nd::zeros_pinned({2, 3}, nd::int32);
  BOOST_TEST((zeros.device() == nd::cpu_device && zeros.dtype() == nd::int32 && zeros.shape() == nd::Shape{2, 3}));
  BOOST_TEST(zeros.to_vector<int>() == std::vector<int>(6));
  BOOST_TEST((nd::empty_pinned({4}).dtype() == nd::float64));
  BOOST_TEST(nd::empty_pinned({2, 3}, nd::float32, nd::Order::F).is_f_contiguous());
  BOOST_TEST(nd::empty_like_pinned(zeros.T()).is_f_contiguous());
  BOOST_TEST((nd::zeros_like_pinned(zeros, nd::float16).dtype() == nd::float16));
  BOOST_TEST(nd::zeros_pinned({0, 3}).size() == 0);
  zeros(1, 2) = 7;
  BOOST_TEST(zeros.to_device(nd::current_device()).sum().item<int>() == 7);
  BOOST_CHECK_THROW(nd::empty_pinned({-1}), nd::ValueError);
  BOOST_CHECK_THROW(nd::empty_like_pinned(nd::Array()), nd::TypeError);
}

// A pool of one's own: its blocks are kept for their size, and outlive it.
BOOST_AUTO_TEST_CASE(pinned_pools) {
  nd::PinnedMemoryPool pool;
  BOOST_TEST(!pool.allocate(0));
  BOOST_TEST(pool.n_free_blocks() == 0u);
  pool.free_all_blocks();
  if (!nd::is_available(nd::Device::Kind::cuda)) {
    BOOST_TEST(test::message_of<catena::RuntimeError>([&] { pool.allocate(1); }).starts_with("CUDA is unavailable: "));
    return;
  }
  const std::size_t free_elsewhere = nd::pinned_memory_pool().n_free_blocks();
  pool.allocate(1000);
  BOOST_TEST(pool.n_free_blocks() == 1u);
  const nd::MemoryPointer other_size = pool.allocate(1025), same_size = pool.allocate(513);
  BOOST_TEST(same_size.size() == 513u);
  BOOST_TEST((same_size.device() == nd::cpu_device));
  BOOST_TEST(pool.n_free_blocks() == 0u);
  pool.allocate(1);
  BOOST_TEST(pool.n_free_blocks() == 1u);
  std::thread([&pool] { pool.free_all_blocks(); }).join();  // a thread that has not used CUDA yet
  BOOST_TEST(pool.n_free_blocks() == 0u);

  nd::MemoryPointer kept;
  {
    nd::PinnedMemoryPool short_lived;
    nd::set_pinned_memory_allocator([&](std::size_t size) { return short_lived.allocate(size); });
    kept = nd::alloc_pinned_memory(100);
    nd::set_pinned_memory_allocator(nd::pinned_memory_pool());
  }
  if (cuda_device::Control::available()) {
    const cuda_device::Control control;
    const std::uint64_t freed = control.calls("cuMemFreeHost");
    std::thread([] { nd::PinnedMemoryPool().allocate(100); }).join();
    BOOST_TEST(control.calls("cuMemFreeHost") == freed + 1,
               "a pool gives its free blocks back to the driver when it goes");
  }
  std::memset(kept.ptr(), 3, 100);
  const nd::MemoryPointer on_device = nd::alloc(100);
  on_device.copy_from(kept, 100);
  BOOST_TEST(content(on_device, 100) == std::vector<std::uint8_t>(100, 3));
  BOOST_TEST(nd::pinned_memory_pool().n_free_blocks() >= free_elsewhere);
}

// Arrays from a pool of one's own, and straight from the device.
BOOST_AUTO_TEST_CASE(allocators_of_arrays) {
  const nd::Device device = nd::current_device();
  nd::MemoryPool own(nd::runtime(device.kind));
  std::size_t asked = 0;
  const auto from_own = std::make_shared<const nd::Allocator>([&](std::size_t bytes, nd::Device d) {
    asked = bytes;
    return own.allocate(bytes, d.id, nd::current_stream(d).handle);
  });
  const std::size_t used_before = nd::memory_pool().used_bytes();
  {
    const nd::AllocatorScope scope(from_own);
    const nd::Array a = nd::full({1000}, 2.f);
    BOOST_TEST(asked == 4000u);
    BOOST_TEST(own.used_bytes() >= 4000u);
    BOOST_TEST(nd::memory_pool().used_bytes() == used_before);
    BOOST_TEST(a.to_vector<float>() == std::vector<float>(1000, 2.f));
    nd::set_allocator(nd::raw_allocator());
    const nd::Array b = a + 1;
    BOOST_TEST(nd::memory_pool().used_bytes() == used_before);
    BOOST_TEST(b.to_vector<float>() == std::vector<float>(1000, 3.f));
  }
  BOOST_TEST(own.used_bytes() == 0u);
  BOOST_TEST(own.n_free_blocks() > 0u);
  own.free_all_blocks();
  BOOST_TEST(own.total_bytes() == 0u);
  BOOST_TEST((nd::get_allocator() == nd::pool_allocator()));
}

BOOST_AUTO_TEST_CASE(pinned_memory_from_elsewhere) {
  std::size_t asked = 0;
  nd::set_pinned_memory_allocator([&asked](std::size_t size) {
    asked = size;
    return nd::MemoryPointer();
  });
  nd::alloc_pinned_memory(77);
  nd::set_pinned_memory_allocator(nd::pinned_memory_pool());
  BOOST_TEST(asked == 77u);
}

BOOST_AUTO_TEST_CASE(pointers_that_no_device_knows) {
  int on_the_stack = 0;
  BOOST_TEST((nd::device_from_pointer(&on_the_stack) == nd::cpu_device));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
