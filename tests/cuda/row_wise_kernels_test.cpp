// Reductions, row-wise kernels and dropout: elements that a thread reads together, or keeps in registers, give what
// single ones give, wherever rows begin. Executed on the CPU from the generated text in three thread orders.
#include <catena/tests/cuda/structural_kernels.h>

#include <cmath>

#include <catena/kernels/random.h>

namespace {

using namespace cuda_device;
using catena::Dims;
using nd::cuda::Form;

// The same values in rows that begin `pad` bytes apart from each other's end, the first one `skip` bytes into its
// memory.
HostArray respaced(const HostArray& from, std::int64_t skip, std::int64_t pad) {
  const std::int64_t rows = from.shape[0], row_bytes = from.strides[0];
  HostArray a = make_array(Dtype::uint8, {rows * (row_bytes + pad)}, skip);
  a.dtype = from.dtype;
  a.shape = from.shape;
  a.strides = Strides{row_bytes + pad, from.strides[1]};
  HostArray source = from;
  for (std::int64_t r = 0; r < rows; ++r)
    std::memcpy(a.data() + r * a.strides[0], source.data() + r * row_bytes, std::size_t(row_bytes));
  return a;
}

std::string reduce_rows(const char* name, const char* signature, HostArray in, Order order) {
  const catena::KernelDef& def = catena::find_kernel(name);
  const int loop = loop_number(def, signature);
  HostArray out = make_array(def.loop_table[loop].type[1], {in.shape[0], 1});
  out.strides[1] = 0;
  catena::bound::Reduce call;
  call.kernel = &def;
  call.loop = loop;
  call.in = in.operand();
  call.out = out.operand();
  call.axes = {1};
  run_sequence(nd::cuda::plan_reduce(call, kProcessors), order);
  return out.content();
}

struct RowRun {
  Form form;
  std::vector<HostArray> operands;
};
RowRun run_row_kernel(const char* name, const char* signature, std::vector<HostArray> operands, const Shape& shape,
                      const Dims& axes, Order order) {
  const catena::KernelDef& def = catena::find_kernel(name);
  const int loop = loop_number(def, signature);
  std::vector<BoundOperand> refs;
  for (HostArray& a : operands) refs.push_back(a.operand());
  const nd::cuda::LaunchPlan plan = nd::cuda::plan_row_wise({&def, loop, shape, axes, refs}, kProcessors);
  run_plan(plan, order);
  return {plan.key.form, operands};
}

// Softmax of (rows, count), against the formula in double.
void check_softmax(HostArray x, HostArray y, Form form) {
  const std::int64_t rows = x.shape[0], count = x.shape[1];
  for (Order order : kOrders) {
    RowRun result = run_row_kernel("softmax", "f->f", {x, y}, x.shape, {1}, order);
    BOOST_CHECK_EQUAL(nd::cuda::name_of(result.form), nd::cuda::name_of(form));
    for (std::int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (std::int64_t i = 0; i < count; ++i) sum += std::exp(number(x.dtype, element(x, x.shape, r * count + i)));
      for (std::int64_t i = 0; i < count; ++i) {
        const double expected = std::exp(number(x.dtype, element(x, x.shape, r * count + i))) / sum;
        BOOST_REQUIRE_SMALL(number(y.dtype, element(result.operands[1], x.shape, r * count + i)) / expected - 1, 1e-5);
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(reductions_are_the_same_wherever_rows_begin) {
  for (auto [dtype, signature] :
       {std::pair{Dtype::float32, "f->f"}, std::pair{Dtype::float16, "e->e"}, std::pair{Dtype::float64, "d->d"}}) {
    for (std::int64_t count : {std::int64_t(1), std::int64_t(37), std::int64_t(1001), std::int64_t(3003)}) {
      const HostArray x = random_array(dtype, {20, count}, 7);
      const auto item = std::int64_t(catena::itemsize(dtype));
      const std::string first = reduce_rows("sum", signature, x, Order::ascending);
      for (Order order : kOrders) {
        const std::int64_t to_16 = 16 - count * item % 16;
        BOOST_CHECK(reduce_rows("sum", signature, respaced(x, 0, to_16), order) == first);
        BOOST_CHECK(reduce_rows("sum", signature, respaced(x, item, to_16), order) == first);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(row_kernels_of_every_length) {
  constexpr Dtype f = Dtype::float32;
  for (std::int64_t count : {1, 3, 128, 1000, 1024})
    check_softmax(random_array(f, {5, count}, 1), make_array(f, {5, count}), Form::row_warp);
  for (std::int64_t count : {1025, 4099, 8192})
    check_softmax(random_array(f, {3, count}, 1), make_array(f, {3, count}), Form::row_block);
  check_softmax(random_array(f, {3, 9001}, 1), make_array(f, {3, 9001}), Form::row_long);
  // Many rows that lie side by side.
  check_softmax(transposed(random_array(f, {7, 1500}, 1), {1, 0}), transposed(make_array(f, {7, 1500}), {1, 0}),
                Form::row_columns);
  // Wherever rows begin the results are the same.
  for (std::int64_t count : {100, 3003, 9001}) {
    const HostArray x = random_array(f, {4, count}, 1);
    const auto softmax = [&](const HostArray& in, Order order) {
      return run_row_kernel("softmax", "f->f", {in, make_array(f, {4, count})}, {4, count}, {1}, order)
          .operands[1]
          .content();
    };
    const std::string first = softmax(x, Order::ascending);
    for (Order order : kOrders) {
      BOOST_CHECK(softmax(respaced(x, 0, 16 - count * 4 % 16), order) == first);
      BOOST_CHECK(softmax(respaced(x, 4, 16 - count * 4 % 16), order) == first);
    }
  }
}

// Rows over two axes, statistics per row; runs of elements that fit the inner axis, and such that do not.
BOOST_AUTO_TEST_CASE(batch_normalization_reads_statistics_once_per_row) {
  constexpr Dtype f = Dtype::float32;
  for (std::int64_t inner : {std::int64_t(64), std::int64_t(49), std::int64_t(1600)}) {
    const Shape shape{6, 3, inner};
    const auto channel = [](HostArray a) {
      a.shape = Shape{1, 3, 1};
      a.strides = Strides{0, 4, 0};
      return a;
    };
    const std::vector<HostArray> operands = {random_array(f, shape, 6),
                                             random_array(f, shape, 9),
                                             channel(random_array(f, {3}, 7)),
                                             channel(random_array(f, {3}, 8)),
                                             channel(small_integers(f, {3}, 5, 9)),
                                             make_array(f, shape),
                                             channel(make_array(f, {3})),
                                             channel(make_array(f, {3}))};
    const auto count = double(6 * inner);
    for (Order order : kOrders) {
      RowRun run = run_row_kernel("batch_norm_bwd", "fffff->f;ff", operands, shape, {0, 2}, order);
      BOOST_CHECK(run.form == (inner == 1600 ? Form::row_long : Form::row_warp));
      std::vector<HostArray>& x = run.operands;
      for (std::int64_t c = 0; c < 3; ++c) {
        const double gamma = x[2].as<float>()[c], mean = x[3].as<float>()[c], inv_std = x[4].as<float>()[c];
        double sum = 0, product = 0;
        const auto at = [&](std::int64_t i) { return i / inner * 3 * inner + c * inner + i % inner; };
        for (std::int64_t i = 0; i < 6 * inner; ++i) {
          const double gy = x[1].as<float>()[at(i)];
          sum += gy;
          product += gy * (double(x[0].as<float>()[at(i)]) - mean) * inv_std;
        }
        BOOST_REQUIRE_SMALL(double(x[7].as<float>()[c]) - sum, 1e-2);
        BOOST_REQUIRE_SMALL(double(x[6].as<float>()[c]) - product, 1e-1);
        for (std::int64_t i = 0; i < 6 * inner; ++i) {
          const double gy = x[1].as<float>()[at(i)], normal = (double(x[0].as<float>()[at(i)]) - mean) * inv_std;
          BOOST_REQUIRE_SMALL(
              double(x[5].as<float>()[at(i)]) - gamma * inv_std * (gy - (normal * product + sum) / count), 1e-2);
        }
      }
    }
  }
}

// Four elements at once share the numbers of one counter; an array that is not contiguous gets the same ones.
BOOST_AUTO_TEST_CASE(dropout_in_fours) {
  constexpr Dtype f = Dtype::float32;
  const catena::KernelDef& def = catena::find_kernel("dropout");
  const int number = loop_number(def, "fLLf->f");
  const catena::EagerProgram program(def, number);
  for (std::int64_t n : {1, 4, 1003, 20000}) {
    const Shape loop{n};
    for (std::int64_t skip : {0, 4}) {
      const HostArray x = random_array(f, loop, 1, skip);
      for (Order order : kOrders) {
        std::vector<HostArray> operands = {x, scalar(Dtype::uint64, 42, 1), scalar(Dtype::uint64, 7, 1),
                                           scalar(f, 0.5, 1), make_array(f, loop, skip)};
        const nd::cuda::KernelKey key = run_program(program, operands, loop, order);
        BOOST_CHECK_EQUAL(int(key.per_thread), 4);
        HostArray spread = make_array(f, {2 * n});
        for (std::int64_t i = 0; i < n; ++i) spread.as<float>()[2 * i] = operands[0].as<float>()[i];
        spread.shape = loop;
        spread.strides = Strides{8};
        std::vector<HostArray> others = operands;
        others[0] = spread;
        others[4] = make_array(f, loop);
        BOOST_CHECK_EQUAL(int(run_program(program, others, loop, order).per_thread), n == 1 ? 4 : 1);
        for (std::int64_t i = 0; i < n; ++i) {
          const float kept = catena::uniform_from_bits(catena::random_bits32(42, 7, i)) >= 0.5f ? 2.0f : 0.0f;
          BOOST_REQUIRE_EQUAL(operands[4].as<float>()[i], kept * operands[0].as<float>()[i]);
          BOOST_REQUIRE_EQUAL(others[4].as<float>()[i], operands[4].as<float>()[i]);
        }
      }
    }
  }
}
