// Arrays from bytes that come in parts, and npz members on their way to a GPU: which memory the parts pass through.
#include <catena/kernels/formats/byte_stream.h>
#include <catena/ndarray/routines/array_reader.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>
#include <set>

#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/npz.h>
#include <catena/ndarray/chainer_cuda/runtime.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/memory/memory.h>
#include <catena/ndarray/routines/io.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::internal::array_from_reader;
using nd::internal::kReadPart;
using test::message_of;
using test::same_bits;

bool on_gpu() { return nd::current_device().kind == nd::Device::Kind::cuda; }

bool is_pinned(const void* p) {
  const nd::cuda::runtime::PointerAttributes a = nd::cuda::runtime::pointer_get_attributes(p);
  return !a.is_device && a.device != -1;
}

std::vector<std::byte> random_bytes(std::size_t n) {
  std::mt19937 random(7);
  std::vector<std::byte> bytes(n);
  for (std::byte& b : bytes) b = std::byte(random() & 0xff);
  return bytes;
}

// Hands out the bytes of a list, and notes what it was asked for.
struct Source {
  const std::vector<std::byte>& bytes;
  std::size_t done = 0, pinned = 0, pageable = 0, largest = 0;
  std::vector<void*> buffers = {};
  void operator()(void* to, std::size_t n) {
    BOOST_TEST_REQUIRE(n <= bytes.size() - done);
    std::memcpy(to, bytes.data() + done, n);
    done += n;
    largest = std::max(largest, n);
    if (on_gpu()) (is_pinned(to) ? pinned : pageable) += n;
    buffers.push_back(to);
  }
};

Array read_from(Source& source, const nd::Shape& shape, nd::Dtype dtype) {
  return array_from_reader(shape, dtype, nd::current_device(), [&](void* to, std::size_t n) { source(to, n); });
}

// Sums up what alloc_pinned_memory is asked for.
class PinnedCount {
 public:
  PinnedCount() {
    nd::set_pinned_memory_allocator([this](std::size_t n) {
      blocks_.push_back(n);
      return nd::pinned_memory_pool().allocate(n);
    });
  }
  ~PinnedCount() { nd::set_pinned_memory_allocator(nd::pinned_memory_pool()); }
  const std::vector<std::size_t>& blocks() const { return blocks_; }

 private:
  std::vector<std::size_t> blocks_;
};

class Path {
 public:
  explicit Path(const std::string& name)
      : path_((std::filesystem::temp_directory_path() / (std::to_string(getpid()) + "_" + name)).string()) {}
  ~Path() { std::filesystem::remove(path_); }
  operator const std::string&() const { return path_; }

 private:
  std::string path_;
};

// An archive of one member "a": a header with this dictionary, and data.
void write_member(const std::string& path, std::string dictionary, std::span<const std::byte> data, bool deflated) {
  std::string head("\x93NUMPY\1\0", 8);
  dictionary.append(64 - (10 + dictionary.size() + 1) % 64, ' ');
  dictionary += '\n';
  head += static_cast<char>(dictionary.size() & 0xff);
  head += static_cast<char>(dictionary.size() >> 8);
  head += dictionary;
  catena::AtomicFile file("test", path);
  catena::ZipWriter zip(file);
  catena::ByteSink& sink = zip.begin("a.npy", deflated ? catena::ZipMethod::deflated : catena::ZipMethod::stored);
  sink.write(head.data(), head.size());
  if (!data.empty()) sink.write(data.data(), data.size());
  zip.end();
  zip.finish();
  file.commit();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(array_reader)

BOOST_AUTO_TEST_CASE(parts_take_turns_in_pinned_memory) {
  const std::int64_t n = std::int64_t(kReadPart) / 4 * 3 + 1001;  // three whole parts and a short one
  const std::vector<std::byte> bytes = random_bytes(std::size_t(n) * 4);
  Source source{bytes};
  const PinnedCount count;
  const Array a = read_from(source, {n}, nd::uint32);
  BOOST_TEST(a.is_c_contiguous());
  BOOST_TEST((test::bytes_of(a) == bytes));
  if (!on_gpu()) {
    BOOST_TEST(source.buffers.size() == 1u);
    BOOST_TEST(source.buffers[0] == static_cast<void*>(a->data));
    BOOST_TEST(count.blocks().empty());
    return;
  }
  BOOST_TEST(source.pinned == bytes.size());
  BOOST_TEST(source.pageable == 0u);
  BOOST_TEST(source.largest == kReadPart);
  BOOST_TEST_REQUIRE(source.buffers.size() == 4u);
  BOOST_TEST(source.buffers[0] != source.buffers[1]);
  BOOST_TEST(source.buffers[2] == source.buffers[0]);
  BOOST_TEST(source.buffers[3] == source.buffers[1]);
  BOOST_TEST(count.blocks() == (std::vector<std::size_t>{kReadPart, kReadPart}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(sizes_and_dtypes) {
  std::mt19937 random(3);
  std::vector<nd::Dtype> dtypes(std::begin(test::kAllDtypes), std::end(test::kAllDtypes));
  dtypes.push_back(nd::complex64);
  dtypes.push_back(nd::complex128);
  for (const nd::Dtype t : dtypes)
    for (const nd::Shape& shape : {nd::Shape{}, nd::Shape{1}, nd::Shape{3, 5}, nd::Shape{1025}}) {
      std::vector<std::byte> bytes = random_bytes(std::size_t(catena::size_of(shape)) * catena::itemsize(t));
      if (t == nd::bool_)
        for (std::byte& b : bytes) b &= std::byte(1);
      Source source{bytes};
      const Array a = read_from(source, shape, t);
      BOOST_TEST((test::bytes_of(a) == bytes), t << " " << shape);
      BOOST_TEST((a.shape() == shape && a.dtype() == t && a.device() == nd::current_device()));
      BOOST_TEST(source.buffers.size() == 1u);
    }
  const std::vector<std::byte> none;
  Source empty{none};
  BOOST_TEST((read_from(empty, {0, 3}, nd::float32).shape() == nd::Shape{0, 3}));
  BOOST_TEST(empty.buffers.empty());
  BOOST_CHECK_THROW(read_from(empty, {-1}, nd::float32), nd::ValueError);
}

// The buffer of the part before is still being copied when a part fails; afterwards everything works as before.
BOOST_AUTO_TEST_CASE(exceptions_of_the_reader_pass_through) {
  const std::vector<std::byte> bytes = random_bytes(3 * kReadPart);
  for (const int fails : {1, 2, 3}) {
    if (!on_gpu() && fails > 1) break;
    int calls = 0;
    Source source{bytes};
    BOOST_TEST(message_of<nd::IOError>([&] {
                 array_from_reader({std::int64_t(bytes.size())}, nd::uint8, nd::current_device(),
                                   [&](void* to, std::size_t n) {
                                     if (++calls == fails) catena::fail<nd::IOError>("test", "no more");
                                     source(to, n);
                                   });
               }) == "test: no more");
    BOOST_TEST(calls == fails);
    Source whole{bytes};
    BOOST_TEST((test::bytes_of(read_from(whole, {std::int64_t(bytes.size())}, nd::uint8)) == bytes));
  }
}

BOOST_AUTO_TEST_CASE(the_current_stream_is_used) {
  const std::vector<std::byte> bytes = random_bytes(2 * kReadPart + 64);
  const nd::Stream stream(nd::StreamOptions{.non_blocking = true});
  Source source{bytes};
  Array a;
  {
    const nd::StreamScope scope(stream);
    a = read_from(source, {std::int64_t(bytes.size())}, nd::uint8);
  }
  stream.synchronize();
  BOOST_TEST((test::bytes_of(a) == bytes));
}

BOOST_AUTO_TEST_CASE(captured_work_cannot_read) {
  if (!on_gpu()) return;
  const std::vector<std::byte> bytes = random_bytes(64);
  BOOST_TEST(test::contains(message_of<nd::RuntimeError>([&] {
                              nd::cuda::Graph([&] {
                                Source source{bytes};
                                read_from(source, {64}, nd::uint8);
                              });
                            }),
                            "copy from the host"));
}

// Members larger than the buffers: stored and deflated; C and Fortran order; both byte orders.
BOOST_AUTO_TEST_CASE(members_of_archives_are_streamed) {
  const Path path("streamed.npz");
  const std::int64_t rows = 700, columns = std::int64_t(kReadPart) * 5 / 2 / 700 / 4;  // 2.5 parts
  std::vector<std::uint32_t> values(std::size_t(rows * columns));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i * 2654435761u >> 4);
  const Array expected = nd::array(values, {rows, columns});
  for (const bool deflated : {false, true})
    for (const bool fortran : {false, true})
      for (const bool big_endian : {false, true}) {
        std::vector<std::uint32_t> in_file(values.size());
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t c = 0; c < columns; ++c) {
            const std::uint32_t v = values[std::size_t(r * columns + c)];
            in_file[std::size_t(fortran ? c * rows + r : r * columns + c)] = big_endian ? __builtin_bswap32(v) : v;
          }
        const std::string order = fortran ? "True" : "False";
        write_member(path,
                     "{'descr': '" + std::string(big_endian ? ">u4" : "<u4") + "', 'fortran_order': " + order +
                         ", 'shape': (" + std::to_string(rows) + ", " + std::to_string(columns) + "), }",
                     std::as_bytes(std::span(in_file)), deflated);
        const PinnedCount count;
        const nd::NpzFile file = nd::loadz(path);
        const Array a = file["a"];
        BOOST_TEST(same_bits(a, expected), deflated << fortran << big_endian);
        BOOST_TEST(a.is_c_contiguous());
        // Twice the size of a buffer, not the size of the array.
        const std::size_t pinned = std::accumulate(count.blocks().begin(), count.blocks().end(), std::size_t(0));
        BOOST_TEST(pinned == (on_gpu() ? 2 * kReadPart : 0));
      }
}

// The damage is found when a good part of the array has been copied.
BOOST_AUTO_TEST_CASE(damage_behind_the_first_parts) {
  const Path path("damaged.npz");
  std::vector<std::byte> bytes = random_bytes(3 * kReadPart);
  for (const bool deflated : {false, true}) {
    write_member(path, "{'descr': '|u1', 'fortran_order': False, 'shape': (" + std::to_string(bytes.size()) + ",), }",
                 bytes, deflated);
    BOOST_TEST((test::bytes_of(nd::loadz(path)["a"]) == bytes));
    {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(kReadPart * 5 / 2));
      file.put('x').put('y').put('z');
    }
    BOOST_TEST(message_of<nd::ValueError>([&] { nd::loadz(path)["a"]; }).starts_with("loadz: \""));
  }
  // A file that becomes shorter while it is open.
  write_member(path, "{'descr': '|u1', 'fortran_order': False, 'shape': (" + std::to_string(bytes.size()) + ",), }",
               bytes, false);
  const nd::NpzFile file = nd::loadz(path);
  std::filesystem::resize_file(std::string(path), kReadPart * 2);
  BOOST_TEST(test::contains(message_of<nd::IOError>([&] { file["a"]; }), "the file ends at byte"));
  if (on_gpu()) nd::synchronize(nd::current_device());
}

BOOST_AUTO_TEST_SUITE_END()
