// DLPack both ways: tensors as other libraries make and read them. The structures are declared here a second time, as
// <dlpack/dlpack.h> declares them.
#include <catena/ndarray/routines/dlpack.h>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <complex>
#include <cstring>
#include <thread>
#include <vector>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/message_of.h>

namespace {

using nd::Array;
using test::message_of;

BOOST_AUTO_TEST_SUITE(dlpack)

// ---- <dlpack/dlpack.h> ---------------------------------------------------------------------------
typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLROCM = 10 } DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;
typedef struct {
  uint32_t major, minor;
} DLPackVersion;
typedef struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;

// A library whose tensors count the calls of their deleter.
struct Owner {
  std::vector<std::int64_t> shape, strides;
  int deleted = 0;
  DLManagedTensorVersioned versioned{};
  DLManagedTensor unversioned{};

  Owner(void* data, DLDataType dtype, std::vector<std::int64_t> lengths, std::vector<std::int64_t> steps = {},
        std::uint64_t flags = 0, DLDevice device = {kDLCPU, 0})
      : shape(std::move(lengths)), strides(std::move(steps)) {
    const DLTensor t{
        data, device, std::int32_t(shape.size()), dtype, shape.data(), strides.empty() ? nullptr : strides.data(), 0};
    versioned = {{1, 3}, this, [](auto* self) { ++static_cast<Owner*>(self->manager_ctx)->deleted; }, flags, t};
    unversioned = {t, this, [](auto* self) { ++static_cast<Owner*>(self->manager_ctx)->deleted; }};
  }
  Owner(const Owner&) = delete;
};

constexpr DLDataType kFloat32{2, 32, 1}, kFloat64{2, 64, 1}, kInt32{0, 32, 1};

template <class T> DLManagedTensorVersioned* exported(const T& a) {
  return nd::to_dlpack(a).template release<DLManagedTensorVersioned>();
}

struct Type {
  nd::Dtype dtype;
  int code, bits;
};
const Type types[] = {{nd::bool_, 6, 8},     {nd::int8, 0, 8},       {nd::uint8, 1, 8},       {nd::int16, 0, 16},
                      {nd::uint16, 1, 16},   {nd::int32, 0, 32},     {nd::uint32, 1, 32},     {nd::int64, 0, 64},
                      {nd::uint64, 1, 64},   {nd::float16, 2, 16},   {nd::float32, 2, 32},    {nd::float64, 2, 64},
                      {nd::bfloat16, 4, 16}, {nd::complex64, 5, 64}, {nd::complex128, 5, 128}};

BOOST_AUTO_TEST_CASE(every_dtype_there_and_back) {
  BOOST_TEST(std::size(types) == std::size_t(catena::kNumDtypes));
  for (const Type& type : types) {
    const Array a = nd::arange(6).astype(type.dtype).reshape(2, 3);
    for (const std::uint32_t major : {0u, 1u}) {
      nd::DlpackTensor tensor = nd::to_dlpack(a, {.max_version = {major, 8}});
      BOOST_TEST(tensor.is_versioned() == (major == 1));
      const nd::dlpack::Tensor& t = tensor.tensor();
      BOOST_TEST(int(t.dtype.code) == type.code);
      BOOST_TEST(int(t.dtype.bits) == type.bits);
      BOOST_TEST(t.dtype.lanes == 1);
      BOOST_TEST(t.ndim == 2);
      BOOST_TEST((t.shape[0] == 2 && t.shape[1] == 3 && t.strides[0] == 3 && t.strides[1] == 1));
      BOOST_TEST(static_cast<std::byte*>(t.data) + t.byte_offset == a.data().ptr());
      BOOST_TEST(t.device.device_type == (a.device().kind == nd::Device::Kind::cpu ? 1 : 2));
      const Array b = nd::from_dlpack(std::move(tensor));
      BOOST_TEST((b.dtype() == type.dtype && b.shape() == a.shape() && b.device() == a.device()));
      BOOST_TEST((b == a).all().item<bool>());
      b(1, 2) = 0;  // the same memory
      BOOST_TEST((a(1, 2) == 0).item<bool>());
      a(1, 2) = 1;
      BOOST_TEST((b(1, 2) == 1).item<bool>());
    }
  }
}

BOOST_AUTO_TEST_CASE(layouts) {
  const Array a = nd::arange(24, nd::int32).reshape(2, 3, 4);
  const Array views[] = {a,
                         a.T(),
                         a(1, nd::Slice(nd::None, nd::None, -2)),
                         a(nd::ellipsis, nd::Slice(3, 0, -1)),
                         a(1, 2, 3),
                         a(nd::Slice(2, 2)),
                         nd::broadcast_to(a(0, 0, nd::Slice(1, 2)), {3, 4}),
                         a(nd::newaxis, nd::Slice(0, 1))};
  for (const Array& v : views) {
    DLManagedTensorVersioned* const t = exported(v);
    BOOST_TEST(t->version.major == 1u);
    BOOST_TEST(t->flags == 0u);
    BOOST_TEST(t->dl_tensor.ndim == v.ndim());
    for (int i = 0; i < v.ndim(); ++i) {
      BOOST_TEST(t->dl_tensor.shape[i] == v.shape(i));
      BOOST_TEST(t->dl_tensor.strides[i] * 4 == v.strides()[i]);
    }
    const Array back = nd::from_dlpack(t);
    BOOST_TEST(back.shape() == v.shape());
    BOOST_TEST(back.to_vector<int>() == v.to_vector<int>());
    if (v.size() != 0) BOOST_TEST((back.strides() == v.strides() && back.data().ptr() == v.data().ptr()));
  }
}

// The shape that was exported stays, and so does the memory.
BOOST_AUTO_TEST_CASE(a_tensor_keeps_what_it_was_made_of) {
  const nd::MemoryPool& pool = nd::memory_pool();
  const std::size_t before = pool.used_bytes();
  DLManagedTensor* t = nullptr;
  {
    const Array a = nd::arange(1000).reshape(10, 100);
    t = nd::to_dlpack(a(nd::Slice(1, nd::None)), {.max_version = {0, 8}}).release<DLManagedTensor>();
    const Array whole = nd::from_dlpack(nd::to_dlpack(a));
    a.set_shape({1000});
    BOOST_TEST(whole.shape() == (nd::Shape{10, 100}));
  }
  BOOST_TEST(pool.used_bytes() > before);
  {
    const Array b = nd::from_dlpack(t);
    BOOST_TEST(b.shape() == (nd::Shape{9, 100}));
    BOOST_TEST(b(8, 99).item<double>() == 999);
    BOOST_TEST(pool.used_bytes() > before);
  }
  BOOST_TEST(pool.used_bytes() == before);
  { const nd::DlpackTensor unused = nd::to_dlpack(nd::arange(1000)); }
  BOOST_TEST(pool.used_bytes() == before);
}

BOOST_AUTO_TEST_CASE(the_array_counts_as_written) {
  const Array a = nd::arange(3);
  const std::uint64_t version = a.version();
  const nd::DlpackTensor t = nd::to_dlpack(a);
  BOOST_TEST(a.version() > version);
}

BOOST_AUTO_TEST_CASE(released_tensors) {
  nd::DlpackTensor t = nd::to_dlpack(nd::arange(3));
  BOOST_TEST(message_of<nd::TypeError>([&] { t.release<DLManagedTensor>(); }) ==
             "release: the tensor is a DLManagedTensorVersioned, or was released before; export it with max_version = "
             "{0, 8} for a DLManagedTensor");
  DLManagedTensorVersioned* const raw = t.release<DLManagedTensorVersioned>();
  BOOST_TEST(t.is_null());
  BOOST_CHECK_THROW(t.release<DLManagedTensorVersioned>(), nd::TypeError);
  BOOST_CHECK_THROW(nd::from_dlpack(std::move(t)), nd::ValueError);
  raw->deleter(raw);
}

// ---- tensors of others ---------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(memory_of_another_library) {
  const nd::DeviceScope scope(nd::cpu_device);
  float memory[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  {
    Owner o(memory, kFloat32, {3, 4});  // C order
    const Array a = nd::from_dlpack(&o.versioned);
    BOOST_TEST(a.to_vector<float>() == std::vector<float>(memory, memory + 12), boost::test_tools::per_element());
    BOOST_TEST(a.is_c_contiguous());
  }
  Owner o(memory, kFloat32, {4, 3}, {1, 4});
  o.unversioned.dl_tensor.byte_offset = 4;
  o.unversioned.dl_tensor.shape[0] = 2;
  {
    const Array a = nd::from_dlpack(&o.unversioned);
    BOOST_TEST(a.to_vector<int>() == (std::vector<int>{1, 5, 9, 2, 6, 10}));
    a.fill(7);
    BOOST_TEST((memory[0] == 0 && memory[1] == 7 && memory[10] == 7 && memory[11] == 11));
    BOOST_TEST(o.deleted == 0);
  }
  BOOST_TEST(o.deleted == 1);

  std::complex<double> z[2] = {{1, 2}, {3, 4}};
  Owner complexes(z, {5, 128, 1}, {2});
  BOOST_TEST((nd::from_dlpack(&complexes.versioned)(1).item<std::complex<double>>() == std::complex<double>(3, 4)));
  const std::uint16_t brain[2] = {0x3f80, 0xc000};  // 1, -2
  Owner brains(const_cast<std::uint16_t*>(brain), {4, 16, 1}, {2});
  BOOST_TEST(nd::from_dlpack(&brains.versioned).to_vector<float>() == (std::vector<float>{1, -2}));
  bool bits[3] = {true, false, true};
  Owner bools(bits, {6, 8, 1}, {3}, {}, 0, {kDLCUDAHost, 5});  // page-locked memory is memory of the host
  const Array b = nd::from_dlpack(&bools.versioned);
  BOOST_TEST((b.dtype() == nd::bool_ && b.device() == nd::cpu_device));
  BOOST_TEST(b.sum().item<int>() == 2);
  Owner number(memory, kFloat32, {});
  number.versioned.dl_tensor.shape = nullptr;
  BOOST_TEST(nd::from_dlpack(&number.versioned).ndim() == 0);
  Owner nothing(nullptr, kFloat64, {0, 3});
  BOOST_TEST(nd::from_dlpack(&nothing.versioned).shape() == (nd::Shape{0, 3}));
  BOOST_TEST(nothing.deleted == 1);
}

BOOST_AUTO_TEST_CASE(deleters) {
  double memory[4] = {0, 1, 2, 3};
  Owner o(memory, kFloat64, {4});
  {
    Array view;
    {
      const Array a = nd::from_dlpack(&o.versioned), same = a;
      view = a(nd::Slice(1, 3)).reshape(2, 1);
    }
    BOOST_TEST(o.deleted == 0);
    BOOST_TEST(view.to_vector<double>() == (std::vector<double>{1, 2}));
  }
  BOOST_TEST(o.deleted == 1);
  o.versioned.deleter = nullptr;
  nd::from_dlpack(&o.versioned);
  BOOST_TEST(o.deleted == 1);
  // Without a type of the caller: the library's own declarations.
  nd::dlpack::ManagedTensor own{};
  std::memcpy(&own, &o.unversioned, sizeof own);
  nd::from_dlpack(&own);
  BOOST_TEST(o.deleted == 2);
}

BOOST_AUTO_TEST_CASE(copies) {
  const nd::DeviceScope scope(nd::cpu_device);
  double memory[4] = {0, 1, 2, 3};
  Owner frozen(memory, kFloat64, {2, 2}, {1, 2}, nd::dlpack::read_only);
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::from_dlpack(&frozen.versioned, {.copy = false}); }) ==
             "from_dlpack: the tensor is read-only, and every array can be written; omit copy = false for an array of "
             "its own");
  BOOST_TEST(frozen.deleted == 0);
  const Array a = nd::from_dlpack(&frozen.versioned);
  BOOST_TEST(frozen.deleted == 1);
  a.fill(9);
  BOOST_TEST((memory[0] == 0 && memory[3] == 3));
  Owner o(memory, kFloat64, {2, 2}, {1, 2});
  const Array b = nd::from_dlpack(&o.versioned, {.copy = true});
  BOOST_TEST(o.deleted == 1);
  BOOST_TEST(b.to_vector<int>() == (std::vector<int>{0, 2, 1, 3}));
  BOOST_TEST(b.strides() == (nd::Strides{8, 16}));
  BOOST_TEST(!nd::from_dlpack(&frozen.versioned, {.copy = true}).is_null());

  const Array x = nd::arange(3);
  DLManagedTensorVersioned* const t = nd::to_dlpack(x, {.copy = true}).release<DLManagedTensorVersioned>();
  BOOST_TEST(t->flags == nd::dlpack::is_copied);
  const Array y = nd::from_dlpack(t, {.copy = false});
  y.fill(5);
  BOOST_TEST(x.to_vector<int>() == (std::vector<int>{0, 1, 2}));
}

BOOST_AUTO_TEST_CASE(other_devices) {
  if (!nd::is_available(nd::Device::Kind::cuda)) {
    double memory[1] = {1};
    Owner o(memory, kFloat64, {1}, {}, 0, {kDLCUDA, 0});
    BOOST_CHECK_THROW(nd::from_dlpack(&o.versioned), nd::RuntimeError);
    BOOST_TEST(o.deleted == 0);
    return;
  }
  const nd::Device cuda{nd::Device::Kind::cuda, 0};
  double memory[4] = {0, 1, 2, 3};
  Owner o(memory, kFloat64, {4});
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::from_dlpack(&o.versioned, {.device = cuda, .copy = false}); }) ==
             "from_dlpack: the tensor is on cpu:0; an array on cuda:0 needs a copy, which copy = false forbids");
  const Array there = nd::from_dlpack(&o.versioned, {.device = cuda});
  BOOST_TEST(o.deleted == 1);
  BOOST_TEST((there.device() == cuda));
  BOOST_TEST(there.to_vector<int>() == (std::vector<int>{0, 1, 2, 3}));
  BOOST_TEST(nd::dlpack_device(there).device_type == 2);
  BOOST_TEST(nd::dlpack_device(there.to_host()).device_type == 1);

  DLManagedTensorVersioned* const t =
      nd::to_dlpack(there, {.device = nd::cpu_device}).release<DLManagedTensorVersioned>();
  BOOST_TEST(t->flags == nd::dlpack::is_copied);
  BOOST_TEST(t->dl_tensor.device.device_type == kDLCPU);
  BOOST_TEST(static_cast<double*>(t->dl_tensor.data)[3] == 3);
  t->deleter(t);
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::to_dlpack(there, {.device = nd::cpu_device, .copy = false}); }) ==
             "to_dlpack: the array is on cuda:0; a tensor on cpu:0 needs a copy, which copy = false forbids");
  Owner far(memory, kFloat64, {4}, {}, 0, {kDLCUDA, 77});
  BOOST_CHECK_THROW(nd::from_dlpack(&far.versioned), nd::ValueError);
}

// The message of an error; the tensor stays with the caller.
template <class E> std::string refused(Owner& o, const nd::FromDlpackOptions& options = {}) {
  const std::string text = message_of<E>([&] { nd::from_dlpack(&o.versioned, options); });
  BOOST_TEST(o.deleted == 0);
  return text;
}

BOOST_AUTO_TEST_CASE(wrong_tensors) {
  float memory[12] = {};
  Owner lanes(memory, {2, 32, 4}, {3});
  BOOST_TEST(refused<nd::TypeError>(lanes) ==
             "from_dlpack: the elements are vectors of 4 numbers; view them as numbers, "
             "with one more axis, before the export");
  Owner float8(memory, {10, 8, 1}, {3});
  BOOST_TEST(refused<nd::TypeError>(float8) ==
             "from_dlpack: no dtype has the elements of type code 10 with 8 bits; "
             "convert them before the export, for example to float32");
  Owner int4(memory, {0, 4, 1}, {3}), handle(memory, {3, 64, 1}, {1});
  BOOST_TEST(refused<nd::TypeError>(int4).find("type code 0 with 4 bits") != std::string::npos);
  refused<nd::TypeError>(handle);
  Owner rocm(memory, kFloat32, {3}, {}, 0, {kDLROCM, 0});
  BOOST_TEST(refused<nd::TypeError>(rocm) ==
             "from_dlpack: the tensor is on a device of type 10 (ROCm); copy it to the "
             "CPU or to CUDA before the export");
  Owner negative(memory, kFloat32, {3, -1});
  BOOST_TEST(refused<nd::ValueError>(negative) == "from_dlpack: axis 1 has the negative length -1");
  Owner huge(memory, kFloat32, {std::int64_t(1) << 40, std::int64_t(1) << 40});
  refused<nd::ValueError>(huge);
  Owner wide(memory, kFloat32, {2, 2}, {INT64_MAX / 2, 1});
  BOOST_TEST(refused<nd::ValueError>(wide).find("of axis 0 leaves the address space") != std::string::npos);
  Owner deep(memory, kFloat32, std::vector<std::int64_t>(33, 1));
  BOOST_TEST(refused<nd::ValueError>(deep) == "from_dlpack: the tensor has 33 axes; arrays have at most 32");
  Owner shapeless(memory, kFloat32, {2});
  shapeless.versioned.dl_tensor.shape = nullptr;
  BOOST_TEST(refused<nd::ValueError>(shapeless) == "from_dlpack: the tensor has 1 axes and no shape");
  Owner null(nullptr, kFloat32, {2});
  BOOST_TEST(refused<nd::ValueError>(null) ==
             "from_dlpack: the tensor has the shape (2,) and no address of its elements");
  Owner odd(reinterpret_cast<char*>(memory) + 2, kInt32, {2});
  BOOST_TEST(refused<nd::ValueError>(odd).find("from_dlpack: wrap: the address ") == 0);
  Owner newer(memory, kFloat32, {3});
  newer.versioned.version = {2, 0};
  BOOST_TEST(refused<nd::ValueError>(newer) ==
             "from_dlpack: the tensor has version 2.0 of DLPack; ask its library for version 1 (max_version)");
  BOOST_CHECK_THROW(nd::from_dlpack(static_cast<DLManagedTensor*>(nullptr)), nd::ValueError);
  Owner good(memory, kFloat32, {3});
  BOOST_TEST(refused<nd::ValueError>(good, {.stream = nd::StreamRef{{nd::Device::Kind::cuda, 3}, nullptr}}) ==
             "from_dlpack: the stream belongs to cuda:3, the elements are on cpu:0");
  BOOST_CHECK_THROW(nd::to_dlpack(Array()), nd::TypeError);
}

// Without memory for a copy the tensor stays with the caller, too.
BOOST_AUTO_TEST_CASE(no_memory) {
  double memory[4] = {0, 1, 2, 3};
  Owner o(memory, kFloat64, {4});
  {
    const nd::AllocatorScope scope(catena::Shared<const nd::Allocator>::make(
        [](std::size_t, nd::Device) -> nd::Storage* { throw nd::OutOfMemoryError("nothing is left"); }));
    BOOST_CHECK_THROW(nd::from_dlpack(&o.versioned, {.copy = true}), nd::OutOfMemoryError);
  }
  BOOST_TEST(o.deleted == 0);
  nd::from_dlpack(&o.versioned, {.copy = true});
  BOOST_TEST(o.deleted == 1);
}

// ---- streams of CUDA -----------------------------------------------------------------------------
// Enqueues a wait on a stream, so that what follows there is late.
void delay(const nd::Stream& stream) {
  stream.add_callback([](const nd::Stream&, int) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); });
}

BOOST_AUTO_TEST_CASE(order_of_streams) {
  if (nd::current_device().kind != nd::Device::Kind::cuda) return;
  const nd::Stream theirs({.non_blocking = true}), ours({.non_blocking = true});
  const Array a = nd::zeros({1000});
  nd::synchronize();
  {
    const nd::StreamScope scope(theirs);
    delay(theirs);
    a.fill(1);
  }
  const nd::StreamScope scope(ours);
  const Array b = nd::from_dlpack(exported(a), {.stream = theirs.ref()});
  BOOST_TEST(b.sum().item<int>() == 1000);  // a wait of the stream, not of the host

  delay(ours);
  b.fill(2);
  nd::DlpackTensor t = nd::to_dlpack(b, {.stream = theirs.ref()});
  const nd::StreamScope other(theirs);
  BOOST_TEST(nd::from_dlpack(std::move(t)).sum().item<int>() == 2000);
  theirs.synchronize();
  ours.synchronize();
}

BOOST_AUTO_TEST_CASE(waits) {
  if (!cuda_device::Control::available() || nd::current_device().kind != nd::Device::Kind::cuda) return;
  cuda_device::Control control;
  const nd::Stream other;
  const nd::Device device = nd::current_device();
  const Array a = nd::ones({10});
  const auto passes = [&](const std::optional<nd::StreamRef>& stream) {
    control.reset_records();
    const Array b = nd::from_dlpack(nd::to_dlpack(a), {.stream = stream});
    BOOST_TEST(control.synchronisations().empty());
    BOOST_TEST(control.launches().empty());
    return control.calls("cuStreamWaitEvent");
  };
  BOOST_TEST(passes({}) == 0);
  BOOST_TEST(passes(other.ref()) == 1);
  BOOST_TEST(passes(nd::current_stream()) == 0);
  BOOST_TEST(passes(nd::StreamRef{device, reinterpret_cast<void*>(1)}) == 0);  // the default stream
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
