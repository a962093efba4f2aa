// Kernels of every kind, executed on the CPU from their generated text in three thread orders, against the host loops.
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/cuda/plans/multi_tensor.h>
#include <catena/tests/cuda/structural_kernels.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace {

using namespace cuda_device;
using catena::Dims;
using catena::KernelDef;
using catena::Loop;
using nd::cuda::Form;
using nd::cuda::KernelKey;

// Equal bytes everywhere, also between and behind the elements of the outputs.
void check_content(const char* name, std::size_t operand, HostArray actual, HostArray expected, Order order) {
  const std::string a = actual.content(), e = expected.content();
  const std::size_t at = std::size_t(std::mismatch(a.begin(), a.end(), e.begin()).first - a.begin());
  BOOST_CHECK_MESSAGE(a == e, name << ": operand " << operand << " (" << catena::name_of(actual.dtype)
                                   << ") differs in order " << int(order) << " from byte " << at << " of " << a.size());
}

void check_program(const catena::Program& program, const std::vector<HostArray>& operands, const Shape& loop, Form form,
                   int rank, bool index32 = true) {
  std::vector<HostArray> expected = operands;
  reference(program, expected, loop);
  for (Order order : kOrders) {
    std::vector<HostArray> actual = operands;
    const KernelKey key = run_program(program, actual, loop, order, index32);
    BOOST_CHECK_EQUAL(nd::cuda::name_of(key.form), nd::cuda::name_of(form));
    BOOST_CHECK_EQUAL(int(key.rank), rank);
    for (std::size_t k = 0; k < actual.size(); ++k)
      check_content(program.steps[0].kernel->name, k, actual[k], expected[k], order);
  }
}
void check_row(const char* name, const char* signature, const std::vector<HostArray>& operands, const Shape& loop,
               Form form, int rank, bool index32 = true) {
  const Row row(name, signature);
  check_program(catena::EagerProgram(row.def, row.number), operands, loop, form, rank, index32);
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace

// The text that the build compiled came from the repository; the one for NVRTC is embedded. They are the same.
BOOST_AUTO_TEST_CASE(the_executed_headers_are_the_embedded_ones) {
  const char* root = std::getenv("CATENA_TEST_SOURCE_DIR");
  BOOST_REQUIRE_MESSAGE(root != nullptr, "CATENA_TEST_SOURCE_DIR is not set");
  for (const catena::EmbeddedHeader& header : catena::embedded_headers()) {
    const std::string text = text_of(std::string(root) + "/" + (header.path + sizeof("catena")));
    BOOST_CHECK_MESSAGE(text == header.text(), header.path << " is not what was embedded");
  }
}

BOOST_AUTO_TEST_CASE(elementwise_contiguous) {
  constexpr Dtype f = Dtype::float32, e = Dtype::float16, b = Dtype::bfloat16, l = Dtype::int64, t = Dtype::bool_;
  for (std::int64_t n : {1, 3, 1000, 33333}) {
    const Shape loop{n};
    check_row("add", "ff->f", {random_array(f, loop, 1), random_array(f, loop, 2), make_array(f, loop)}, loop,
              Form::contiguous, 1);
    // One pointer that is not aligned to 16 bytes: no wide accesses.
    check_row("add", "ff->f", {random_array(f, loop, 1), random_array(f, loop, 2, 4), make_array(f, loop)}, loop,
              Form::contiguous, 1);
    check_row("add", "ee->e", {random_array(e, loop, 1), random_array(e, loop, 2), make_array(e, loop)}, loop,
              Form::contiguous, 1);
    check_row("add", "EE->E", {random_array(b, loop, 1), random_array(b, loop, 2), make_array(b, loop)}, loop,
              Form::contiguous, 1);
    check_row("add", "ll->l", {random_array(l, loop, 1), random_array(l, loop, 2), make_array(l, loop)}, loop,
              Form::contiguous, 1);
    check_row("add", "\?\?->?", {random_array(t, loop, 1), random_array(t, loop, 2), make_array(t, loop)}, loop,
              Form::contiguous, 1);
  }
  const Shape loop{5000};
  check_row("add", "ff->f", {random_array(f, loop, 1), random_array(f, loop, 2), make_array(f, loop)}, loop,
            Form::contiguous, 1, false);
}

// A scalar is read from the parameters or from memory by the same kernel.
BOOST_AUTO_TEST_CASE(elementwise_scalars) {
  constexpr Dtype f = Dtype::float32;
  const Shape loop{1003};
  for (double value : {2.5, -7.0}) {
    HostArray s = scalar(f, value, 1);
    check_row("add", "ff->f", {random_array(f, loop, 1), s, make_array(f, loop)}, loop, Form::contiguous, 1);
    s.immediate = false;
    check_row("add", "ff->f", {random_array(f, loop, 1), s, make_array(f, loop)}, loop, Form::contiguous, 1);
  }
  const Shape matrix{20, 31};
  HostArray x = transposed(random_array(f, {31, 20}, 1), {1, 0});
  check_row("add", "ff->f", {x, scalar(f, 3, 2), make_array(f, matrix)}, matrix, Form::strided, 2);
}

// Operands whose dtype in memory is not that of the slot are converted on the way, with one rounding to the slot.
BOOST_AUTO_TEST_CASE(elementwise_casts) {
  const Shape loop{1000};
  check_row(
      "multiply", "ff->f",
      {random_array(Dtype::int8, loop, 1), random_array(Dtype::float32, loop, 2), make_array(Dtype::float64, loop)},
      loop, Form::contiguous, 1);
  check_row(
      "multiply", "ee->e",
      {random_array(Dtype::float64, loop, 1), random_array(Dtype::float32, loop, 2), make_array(Dtype::int32, loop)},
      loop, Form::contiguous, 1);
}

BOOST_AUTO_TEST_CASE(elementwise_strided) {
  constexpr Dtype f = Dtype::float32, e = Dtype::float16;
  const auto add = [](const Shape& loop, HostArray x, HostArray y, int rank, bool index32 = true) {
    check_row("add", "ff->f", {std::move(x), std::move(y), make_array(f, loop)}, loop, Form::strided, rank, index32);
  };
  HostArray backwards = random_array(f, {500}, 1);
  backwards.offset += 499 * 4;
  backwards.strides[0] = -4;
  add({500}, backwards, random_array(f, {500}, 2), 1);
  add({20, 31}, transposed(random_array(f, {31, 20}, 1), {1, 0}), random_array(f, {20, 31}, 2), 2);
  add({20, 31}, transposed(random_array(f, {31, 20}, 1), {1, 0}), random_array(f, {20, 31}, 2), 2, false);
  add({5, 7, 9}, transposed(random_array(f, {9, 5, 7}, 1), {1, 2, 0}),
      transposed(random_array(f, {5, 9, 7}, 2), {0, 2, 1}), 3);
  add({3, 4, 5, 6}, transposed(random_array(f, {6, 5, 4, 3}, 1), {3, 2, 1, 0}), random_array(f, {3, 4, 5, 6}, 2), 4);
  add({2, 3, 4, 3, 2}, transposed(random_array(f, {2, 3, 4, 3, 2}, 1), {4, 3, 2, 1, 0}),
      random_array(f, {2, 3, 4, 3, 2}, 2), 0);
  // A broadcast row, and an output that is a transposed view.
  HostArray row = random_array(e, {31}, 3);
  row.strides = Strides{0, 2};
  check_row("add", "ee->e", {random_array(e, {20, 31}, 1), row, transposed(make_array(e, {31, 20}), {1, 0})}, {20, 31},
            Form::strided, 2);
}

BOOST_AUTO_TEST_CASE(transcendental) {
  const Row row("tanh", "f->f");
  const catena::EagerProgram program(row.def, row.number);
  const Shape loop{4000};
  std::vector<HostArray> expected = {random_array(Dtype::float32, loop, 1), make_array(Dtype::float32, loop)};
  const std::vector<HostArray> operands = expected;
  reference(program, expected, loop);
  for (Order order : kOrders) {
    std::vector<HostArray> actual = operands;
    run_program(program, actual, loop, order);
    for (int i = 0; i < 4000;
         ++i) {  // the host loop is vectorised: its functions may differ from the scalar ones by 4 ulp
      const float x = actual[1].as<float>()[i], y = expected[1].as<float>()[i];
      BOOST_REQUIRE_SMALL(double(x - y), std::ldexp(std::fabs(double(y)), -21) + 1e-38);
    }
  }
}

BOOST_AUTO_TEST_CASE(fused_programs) {
  constexpr Dtype e = Dtype::float16, f = Dtype::float32;
  const Shape loop{777}, matrix{20, 31};
  check_program(named_program("half_chain").program(),
                {random_array(e, loop, 1), random_array(e, loop, 2), make_array(e, loop)}, loop, Form::contiguous, 1);
  check_program(named_program("half_chain").program(),
                {transposed(random_array(e, {31, 20}, 1), {1, 0}), random_array(e, matrix, 2), make_array(e, matrix)},
                matrix, Form::strided, 2);
  check_program(named_program("mixed_chain").program(),
                {random_array(e, loop, 1), random_array(f, loop, 2), make_array(f, loop)}, loop, Form::contiguous, 1);
}

namespace {

void check_indexed(const char* name, const char* signature, const std::vector<HostArray>& operands, const Shape& loop,
                   int rank, Form form = Form::indexed) {
  const Row row(name, signature);
  std::vector<HostArray> expected = operands;
  std::vector<std::byte*> data;
  std::vector<const Shape*> shapes;
  std::vector<const Strides*> strides;
  for (HostArray& a : expected) {
    data.push_back(a.data());
    shapes.push_back(&a.shape);
    strides.push_back(&a.strides);
  }
  row.loop.indexed({data.data(), shapes.data(), strides.data(), &loop}, 0, catena::size_of(loop));
  const catena::EagerProgram program(row.def, row.number);
  for (Order order : kOrders) {
    std::vector<HostArray> actual = operands;
    const KernelKey key = run_program(program, actual, loop, order);
    BOOST_CHECK(key.form == form);
    BOOST_CHECK_EQUAL(int(key.rank), rank);
    for (std::size_t k = 0; k < actual.size(); ++k)
      BOOST_CHECK_MESSAGE(actual[k].content() == expected[k].content(),
                          name << ": operand " << k << " differs in order " << int(order));
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(indexed) {
  for (auto [dtype, signature] : {std::pair{Dtype::float32, "*fllllll->f"}, std::pair{Dtype::float16, "*ellllll->e"}}) {
    // 2 images of 3 channels, 8 x 9; windows 3 x 3, stride 2 x 1, padding 1: 4 x 9 places
    const Shape loop{2, 3, 3, 3, 4, 9};
    std::vector<HostArray> operands = {transposed(random_array(dtype, {2, 8, 9, 3}, 1), {0, 3, 1, 2})};
    for (double v : {2.0, 1.0, 1.0, 1.0, 1.0, 1.0}) operands.push_back(scalar(Dtype::int64, v, 6));
    operands.push_back(make_array(dtype, loop));
    check_indexed("im2col_2d", signature, operands, loop, 6);
  }
  // Windows of 3 x 3 and 2 x 5 that begin in the padding and end in it; more positions than threads.
  for (const auto& [kh, kw, sy, sx, ph, pw] : {std::array{3, 3, 2, 2, 1, 1}, {2, 5, 1, 3, 1, 4}}) {
    const Shape image{2, 3, 17, 31}, loop{2, 3, (17 + 2 * ph - kh) / sy + 1, (31 + 2 * pw - kw) / sx + 1};
    std::vector<HostArray> numbers;
    for (const int v : {kh, kw, sy, sx, ph, pw}) numbers.push_back(scalar(Dtype::int64, v, 4));
    const HostArray x = random_array(Dtype::float32, image, 1);
    std::vector<HostArray> forward{x}, backward{random_array(Dtype::float32, loop, 2), make_array(Dtype::int32, loop)};
    for (std::int64_t k = 0; k < catena::size_of(loop); ++k) backward[1].as<std::int32_t>()[k] = int(k * 7 % (kh * kw));
    forward.insert(forward.end(), numbers.begin(), numbers.end());
    forward.push_back(make_array(Dtype::float32, loop));
    forward.push_back(make_array(Dtype::int32, loop));
    check_indexed("max_pool_2d", "*fllllll->fi", forward, loop, 4, Form::indexed_apart);
    backward.insert(backward.end(), numbers.begin(), numbers.end());
    backward.push_back(make_array(Dtype::float32, image));
    check_indexed("max_pool_2d_bwd", "*f*illllll->f", backward, image, 4);
  }
  const auto dropout = [](const Shape& loop, int rank) {
    const int n = loop.size();
    check_indexed("dropout", "fLLf->f",
                  {random_array(Dtype::float32, loop, 1), scalar(Dtype::uint64, 42, n), scalar(Dtype::uint64, 7, n),
                   scalar(Dtype::float32, 0.5, n), make_array(Dtype::float32, loop)},
                  loop, rank);
  };
  dropout({30, 41}, 2);
  dropout({2, 2, 2, 2, 2, 2, 2, 2, 3}, 0);  // above 8 axes the rank is known at run time
}

namespace {

// Rows along the last axes of `shape`, which are contiguous in every operand that moves along them.
void check_rows(const char* name, const char* signature, std::vector<HostArray> operands, const Shape& shape,
                const Dims& axes, Form form, double bound) {
  const Row row(name, signature);
  const catena::RowWiseLoop& host = *row.loop.row_wise;
  const std::size_t n = operands.size();
  Shape kept = shape, reduced;
  for (std::int64_t a : axes) {
    reduced.push_back(shape[int(a)]);
    kept[int(a)] = 1;
  }
  const std::int64_t count = catena::size_of(reduced);

  // The host loops over dense copies in the compute types, one row at a time.
  std::vector<std::vector<double>> expected(n);
  for (std::int64_t r = 0; r < catena::size_of(kept); ++r) {
    std::vector<HostArray> line;
    std::vector<std::byte*> pointer;
    std::vector<std::int64_t> stride;
    for (std::size_t k = 0; k < n; ++k) {
      const Dtype wide = catena::compute_dtype(row.loop.type[k]);
      line.push_back(make_array(wide, {count}));
      HostArray part = operands[k];
      part.offset += element(operands[k], kept, r) - operands[k].data();
      Dims strides;
      for (std::int64_t a : axes) strides.push_back(operands[k].strides[int(a)]);
      part.strides = strides;
      for (std::int64_t i = 0; i < count; ++i)
        convert(part.dtype, element(part, reduced, i), wide, line[k].data() + i * std::int64_t(catena::itemsize(wide)));
      stride.push_back(std::int64_t(catena::itemsize(wide)));
    }
    for (HostArray& a : line) pointer.push_back(a.data());
    const std::unique_ptr<std::byte[]> memory(new std::byte[host.stats_bytes + 64]);
    std::byte* stats = memory.get() + (64 - reinterpret_cast<std::uintptr_t>(memory.get()) % 64);
    host.init(stats);
    host.phase0(stats, pointer.data(), stride.data(), count);
    host.finish0(stats, pointer.data(), count);
    if (host.phases == 2) host.phase1(stats, pointer.data(), stride.data(), count);
    host.finish1(stats, pointer.data(), count);
    host.write(stats, pointer.data(), stride.data(), count);
    for (std::size_t k = row.def.nin; k < n; ++k) {
      const bool per_row = int(k) >= row.def.nin + row.def.nout;
      for (std::int64_t i = 0; i < (per_row ? 1 : count); ++i) {
        alignas(16) std::byte number[16];
        convert(line[k].dtype, line[k].data() + i * stride[k], Dtype::float64, number);
        expected[k].push_back(*reinterpret_cast<double*>(number));
      }
    }
  }

  std::vector<std::string> first_content(n);
  for (Order order : kOrders) {
    std::vector<HostArray> actual = operands;
    std::vector<BoundOperand> refs;
    for (HostArray& a : actual) refs.push_back(a.operand());
    const catena::bound::RowWise call{&row.def, row.number, shape, axes, refs};
    const nd::cuda::LaunchPlan plan = nd::cuda::plan_row_wise(call, kProcessors);
    BOOST_CHECK_EQUAL(nd::cuda::name_of(plan.key.form), nd::cuda::name_of(form));
    run_plan(plan, order);
    for (std::size_t k = row.def.nin; k < n; ++k) {
      std::size_t at = 0;
      for (std::int64_t r = 0; r < catena::size_of(kept); ++r) {
        HostArray part = actual[k];
        part.offset += element(actual[k], kept, r) - actual[k].data();
        Dims strides;
        for (std::int64_t a : axes) strides.push_back(actual[k].strides[int(a)]);
        part.strides = strides;
        const std::int64_t elements = int(k) >= row.def.nin + row.def.nout ? 1 : count;
        for (std::int64_t i = 0; i < elements; ++i, ++at) {
          alignas(16) std::byte number[16];
          convert(part.dtype, element(part, reduced, i), Dtype::float64, number);
          const double v = *reinterpret_cast<double*>(number), e = expected[k][at];
          BOOST_REQUIRE_MESSAGE(
              std::fabs(v - e) <= bound * std::max(1.0, std::fabs(e)),
              name << ": operand " << k << ", row " << r << ", element " << i << " is " << v << ", not " << e);
        }
      }
      if (order == Order::ascending) first_content[k] = actual[k].content();
      BOOST_CHECK_MESSAGE(actual[k].content() == first_content[k],
                          name << ": the result depends on the order of threads");
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(rows) {
  constexpr Dtype f = Dtype::float32, e = Dtype::float16;
  check_rows("softmax", "f->f", {random_array(f, {37, 100}, 1), make_array(f, {37, 100})}, {37, 100}, {1},
             Form::row_warp, 1e-6);
  check_rows("softmax", "f->f", {random_array(f, {5, 3000}, 2), make_array(f, {5, 3000})}, {5, 3000}, {1},
             Form::row_block, 1e-5);
  check_rows("softmax", "e->e", {random_array(e, {9, 33}, 3), make_array(e, {9, 33})}, {9, 33}, {1}, Form::row_part,
             1e-3);
  // Rows along inner and outer axes at once.
  const Shape cube{4, 5, 6, 7};
  check_rows("softmax", "f->f", {random_array(f, cube, 4), make_array(f, cube)}, cube, {1, 3}, Form::row_part, 1e-6);
  const Shape many{2, 3, 2, 3, 2, 3, 2, 3, 2, 3};
  check_rows("softmax", "f->f", {random_array(f, many, 5), make_array(f, many)}, many, {1, 3, 5, 7, 9}, Form::row_warp,
             1e-6);

  // Batch normalization of (8, 3, 20, 20): rows are channels; gamma and beta per channel, epsilon a scalar; three
  // outputs per channel.
  const Shape images{8, 3, 20, 20};
  const auto channel = [&](HostArray a) {
    a.shape = Shape{1, 3, 1, 1};
    a.strides = Strides{0, 4, 0, 0};
    return a;
  };
  check_rows("batch_norm_fwd", "ffff->f;fff",
             {random_array(f, images, 6), channel(random_array(f, {3}, 7)), channel(random_array(f, {3}, 8)),
              scalar(f, 2e-5, 4), make_array(f, images), channel(make_array(f, {3})), channel(make_array(f, {3})),
              channel(make_array(f, {3}))},
             images, {0, 2, 3}, Form::row_block, 1e-5);
}

// In place: every element is read before it is written, in every order of threads.
BOOST_AUTO_TEST_CASE(rows_in_place) {
  const Row row("softmax", "f->f");
  for (const Shape& shape : {Shape{6, 2000}, Shape{77, 40}}) {
    HostArray x = random_array(Dtype::float32, shape, 1), y = make_array(Dtype::float32, shape);
    const auto run_rows = [&](HostArray& in, HostArray& out, Order order) {
      const BoundOperand refs[] = {in.operand(), out.operand()};
      run_plan(nd::cuda::plan_row_wise({&row.def, row.number, shape, {1}, refs}, kProcessors), order);
    };
    run_rows(x, y, Order::ascending);
    for (Order order : kOrders) {
      HostArray same = x;
      run_rows(same, same, order);
      BOOST_CHECK(std::memcmp(same.data(), y.data(), std::size_t(catena::size_of(shape)) * 4) == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(multi_tensor) {
  const auto check = [](const char* name, const char* signature) {
    const Row row(name, signature);
    const std::size_t operands = std::size_t(row.def.num_operands());
    const std::int64_t sizes[] = {1, 1000, 40000, 0, 37};
    const catena::Hyper hyper[] = {{0.1, 0.9, 0.999, 1e-8, 0.5, 0.25, 0.125, 1},
                                   {0.01, 0.8, 0.99, 1e-7, 0.5, 0.25, 0.125, 1}};
    std::vector<std::vector<HostArray>> start, expected;
    for (std::int64_t n : sizes) {
      std::vector<HostArray> tensor;
      for (std::size_t k = 0; k < operands; ++k) {
        HostArray a = random_array(row.loop.type[k], {(row.def.shared >> k) & 1 ? 1 : n},
                                   unsigned(10 * n) + unsigned(k), k == 1 && n == 37 ? 4 : 0);
        if (k >= 2 && row.loop.type[k] == Dtype::float32)  // second moments are not negative
          for (std::int64_t i = 0; i < n; ++i) a.as<float>()[i] = std::fabs(a.as<float>()[i]);
        tensor.push_back(a);
      }
      start.push_back(tensor);
    }
    expected = start;
    for (std::size_t t = 0; t < expected.size(); ++t) {
      std::vector<HostArray> wide;
      std::vector<std::byte*> pointer;
      for (HostArray& a : expected[t]) {
        wide.push_back(make_array(catena::compute_dtype(a.dtype), a.shape));
        catena::cast_function(a.dtype, wide.back().dtype)(
            a.data(), std::int64_t(catena::itemsize(a.dtype)), wide.back().data(),
            std::int64_t(catena::itemsize(wide.back().dtype)), a.shape[0]);
      }
      for (HostArray& a : wide) pointer.push_back(a.data());
      row.loop.multi_tensor(hyper[t % 2].data(), pointer.data(), sizes[t]);
      for (std::size_t k = row.def.nin; k < operands; ++k)
        catena::cast_function(wide[k].dtype, expected[t][k].dtype)(
            wide[k].data(), std::int64_t(catena::itemsize(wide[k].dtype)), expected[t][k].data(),
            std::int64_t(catena::itemsize(expected[t][k].dtype)), sizes[t]);
    }
    for (Order order : kOrders) {
      std::vector<std::vector<HostArray>> actual = start;
      std::vector<catena::ArrayHeader> headers(actual.size() * operands);
      std::vector<catena::ArrayHeader*> pointers;
      std::vector<std::int32_t> which;
      for (std::size_t t = 0; t < actual.size(); ++t) {
        for (std::size_t k = 0; k < operands; ++k) {
          catena::ArrayHeader& h = headers[t * operands + k];
          h.dtype = row.loop.type[k];
          h.size = actual[t][k].shape[0];
          h.data = actual[t][k].data();
          pointers.push_back(&h);
        }
        which.push_back(std::int32_t(t % 2));
      }
      catena::TensorTable table;
      const catena::call::MultiTensor call{&row.def, row.number, pointers, hyper, which, nullptr, &table};
      table.update(call);
      nd::cuda::TableImage image;
      const nd::cuda::TableImage::Range changed = image.update(call);
      BOOST_TEST(changed.begin == 0u);
      BOOST_TEST(changed.end == image.bytes().size());
      std::vector<std::uint64_t> memory(image.bytes().size() / 8);
      std::memcpy(memory.data(), image.bytes().data(), image.bytes().size());
      nd::cuda::LaunchPlan plan = nd::cuda::plan_multi_tensor(row.def, row.number);
      image.complete(plan, call, memory.data());
      run_plan(plan, order);
      for (std::size_t t = 0; t < actual.size(); ++t)
        for (std::size_t k = 0; k < operands; ++k)
          BOOST_CHECK_MESSAGE(actual[t][k].content() == expected[t][k].content(),
                              name << ": operand " << k << " of tensor " << t << " differs");
    }
  };
  check("sgd_update", "f&f->");
  check("adam_update", "f&fff->");
  check("adam_update", "e&eee->");
  check("scale_by", "@f&f->");
}

// The words that a call copies to the device: from the first to the last one that differs from the previous call.
BOOST_AUTO_TEST_CASE(multi_tensor_tables_change_where_the_call_does) {
  const Row row("sgd_update", "f&f->");
  alignas(64) float memory[4][64] = {};
  constexpr std::size_t kTensors = 3, kWord = 8, kRow = (2 + 2) * kWord;
  std::vector<catena::ArrayHeader> headers(2 * kTensors);
  std::vector<catena::ArrayHeader*> pointers;
  for (catena::ArrayHeader& h : headers) {
    h.dtype = Dtype::float32;
    h.size = 10;
    h.data = reinterpret_cast<std::byte*>(memory[0]);
    pointers.push_back(&h);
  }
  std::vector<catena::Hyper> hyper{{0.5}};
  std::vector<std::int32_t> which;
  catena::TensorTable table;
  nd::cuda::TableImage image;
  const auto update = [&] {
    const catena::call::MultiTensor call{&row.def, row.number, pointers, hyper, which, nullptr, &table};
    table.update(call);
    const auto range = image.update(call);
    return std::pair(range.begin, range.end);
  };
  using Range = std::pair<std::size_t, std::size_t>;
  const auto nothing = [](const Range& r) { return r.first == r.second; };
  const std::size_t rows_at = kTensors * sizeof(catena::TensorTable::Chunk);
  BOOST_TEST((update() == Range(0, rows_at + kTensors * kRow)));
  BOOST_TEST(nothing(update()));
  hyper[0][0] = 0.25;  // a parameter of the launch
  BOOST_TEST(nothing(update()));
  headers[2].data = reinterpret_cast<std::byte*>(memory[1]);  // the gradient of tensor 1
  BOOST_TEST((update() == Range(rows_at + kRow, rows_at + kRow + kWord)));
  headers[1].data = headers[4].data = reinterpret_cast<std::byte*>(memory[2]);
  BOOST_TEST((update() == Range(rows_at + kWord, rows_at + 2 * kRow + kWord)));
  BOOST_TEST(nothing(update()));
  headers[4].size = headers[5].size = 9;  // the sizes are part of the chunks
  BOOST_TEST((update() == Range(0, rows_at + kTensors * kRow)));
  hyper.push_back({2.0});
  which = {0, 1, 0};
  const std::size_t hyper_at = rows_at + kTensors * kRow;
  BOOST_TEST((update() == Range(0, hyper_at + 2 * sizeof(catena::Hyper))));
  hyper[1][0] = 4.0;
  BOOST_TEST((update() == Range(hyper_at + sizeof(catena::Hyper), hyper_at + sizeof(catena::Hyper) + kWord)));
  pointers.resize(4);
  which.resize(2);
  BOOST_TEST(update().first == 0u);
  BOOST_TEST(image.bytes().size() == 2 * sizeof(catena::TensorTable::Chunk) + 2 * kRow + 2 * sizeof(catena::Hyper));
}
