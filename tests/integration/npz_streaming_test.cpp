// load_npz into arrays on a GPU: the elements pass through pinned memory of the size of two parts, and through no other
// memory of the host.
#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include <catena/catena.h>
#include <catena/ndarray/memory/memory.h>
#include <catena/ndarray/routines/array_reader.h>
#include <catena/tests/support/allocations.h>

using autograd::Array;
using nd::internal::kReadPart;

namespace {

struct Arrays {
  Array large, small, scalar, none;
  void serialize(nn::Serializer& s) {
    s("large", large);
    s("small", small);
    s("scalar", scalar);
    s("none", none);
  }
};

Arrays filled(float first) {
  std::vector<float> values(kReadPart / sizeof(float) * 9 / 4);  // 2 1/4 parts
  std::iota(values.begin(), values.end(), first);
  return {nd::array(values), nd::array(std::vector<float>{first, 2, 3}),
          nd::array(std::vector<float>{first}, nd::Shape{}), nd::empty({0, 4}, nd::float32)};
}

bool is_same(const Arrays& a, const Arrays& b) {
  const auto same = [](const Array& x, const Array& y) {
    return x.shape() == y.shape() && autograd::to_vector<float>(x) == autograd::to_vector<float>(y);
  };
  return same(a.large, b.large) && same(a.small, b.small) && same(a.scalar, b.scalar) && same(a.none, b.none);
}

struct Folder {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("catena_npz_streaming_" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(npz_streaming)

BOOST_AUTO_TEST_CASE(no_pageable_memory_on_the_way) {
  const Folder folder;
  Arrays saved = filled(1);
  nn::serializers::save_npz(folder / "stored.npz", saved, false);
  nn::serializers::save_npz(folder / "deflated.npz", saved);
  nn::serializers::save_safetensors(folder / "a.safetensors", saved);
  const bool on_gpu = nd::current_device().kind == nd::Device::Kind::cuda;
  for (const char* name : {"stored.npz", "deflated.npz", "a.safetensors"}) {
    std::vector<std::size_t> pinned;
    nd::set_pinned_memory_allocator([&](std::size_t n) {
      pinned.push_back(n);
      return nd::pinned_memory_pool().allocate(n);
    });
    Arrays loaded = filled(-5);
    test::largest_allocation = 0;
    if (std::string(name).ends_with("npz")) nn::serializers::load_npz(folder / name, loaded);
    else nn::serializers::load_safetensors(folder / name, loaded);
    const std::size_t largest = test::largest_allocation;
    nd::set_pinned_memory_allocator(nd::pinned_memory_pool());
    BOOST_TEST(is_same(loaded, saved), name);
    // Two buffers for the large array, one of the smallest size for each of the others that have elements.
    if (on_gpu)
      BOOST_TEST(pinned == (std::vector<std::size_t>{kReadPart, kReadPart, 4096, 4096}),
                 boost::test_tools::per_element());
    else BOOST_TEST(pinned.empty());
    BOOST_TEST(largest < kReadPart / 4, name << ": a block of " << largest << " bytes");
  }
}

// The entry that cannot be read is the last one: what was loaded before comes back.
BOOST_AUTO_TEST_CASE(a_load_that_fails_changes_nothing) {
  const Folder folder;
  struct Two {
    Array a, b;
    void serialize(nn::Serializer& s) {
      s("a", a);
      s("b", b);
    }
  };
  Two saved{nd::ones({10}), nd::arange(std::int64_t(kReadPart) * 3 / 4, {.dtype = nd::uint16})};
  nn::serializers::save_npz(folder / "a.npz", saved, false);
  {
    std::FILE* const file = std::fopen((folder / "a.npz").c_str(), "r+b");
    BOOST_REQUIRE(file != nullptr);
    std::fseek(file, static_cast<long>(kReadPart) * 5 / 4, SEEK_SET);
    std::fputc(0x5a, file);
    std::fclose(file);
  }
  Two loaded{nd::zeros({10}), nd::zeros({std::int64_t(kReadPart) * 3 / 4}, nd::uint16)};
  BOOST_CHECK_THROW(nn::serializers::load_npz(folder / "a.npz", loaded), catena::ValueError);
  BOOST_TEST(nd::sum(loaded.a).item<double>() == 0);
  BOOST_TEST(nd::sum(loaded.b).item<double>() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
