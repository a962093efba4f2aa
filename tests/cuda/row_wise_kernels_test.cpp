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

std::string signature_of_one(Dtype t) {
  const char c = catena::char_of(t);
  return std::string{c, '-', '>', c};
}

// Softmax of (rows, count), against the formula in double.
void check_softmax(HostArray x, HostArray y, Form form) {
  const std::int64_t rows = x.shape[0], count = x.shape[1];
  const double bound = catena::itemsize(x.dtype) == 2 ? 1e-3 : 1e-5;
  for (Order order : kOrders) {
    RowRun result = run_row_kernel("softmax", signature_of_one(x.dtype).c_str(), {x, y}, x.shape, {1}, order);
    BOOST_CHECK_MESSAGE(result.form == form, count << " elements: " << nd::cuda::name_of(result.form) << ", not "
                                                   << nd::cuda::name_of(form));
    for (std::int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (std::int64_t i = 0; i < count; ++i) sum += std::exp(number(x.dtype, element(x, x.shape, r * count + i)));
      for (std::int64_t i = 0; i < count; ++i) {
        const double expected = std::exp(number(x.dtype, element(x, x.shape, r * count + i))) / sum;
        const double error = number(y.dtype, element(result.operands[1], x.shape, r * count + i)) - expected;
        // Below the normal numbers of float16 the spacing counts, 2^-24.
        BOOST_REQUIRE_MESSAGE(std::fabs(error) <= bound * expected + (bound > 1e-4 ? 6e-8 : 0),
                              count << " elements: " << i << " of row " << r << " is off by " << error);
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
  const auto check = [](Dtype t, std::int64_t rows, std::initializer_list<std::int64_t> counts, Form form) {
    for (std::int64_t count : counts)
      check_softmax(random_array(t, {rows, count}, 1), make_array(t, {rows, count}), form);
  };
  check(f, 37, {1, 3, 40, 62, 64}, Form::row_part);
  check(f, 5, {65, 128, 256, 260, 512, 513, 1000, 1024}, Form::row_warp);
  check(f, 3, {1025, 2048, 4099, 8192, 16384, 16388}, Form::row_block);
  check(f, 2, {32768}, Form::row_block);
  check(f, 2, {32769, 40000}, Form::row_long);
  check(Dtype::float16, 9, {10, 64}, Form::row_part);
  check(Dtype::float16, 5, {72, 1000, 1022}, Form::row_warp);
  check(Dtype::float16, 2, {9000}, Form::row_block);
  check(Dtype::float64, 3, {64}, Form::row_part);
  check(Dtype::float64, 3, {1002}, Form::row_warp);
  check(Dtype::float64, 2, {16384}, Form::row_block);
  check(Dtype::float64, 2, {16386}, Form::row_long);
  // Many rows that lie side by side.
  check_softmax(transposed(random_array(f, {7, 1500}, 1), {1, 0}), transposed(make_array(f, {7, 1500}), {1, 0}),
                Form::row_columns);
  // Elements that are not neighbours.
  for (const auto& [count, form] : {std::pair{60, Form::row_part}, std::pair{300, Form::row_warp}})
    check_softmax(transposed(random_array(f, {count, 8}, 1), {1, 0}), transposed(make_array(f, {count, 8}), {1, 0}),
                  form);
}

// Wherever rows begin, the results are the same.
BOOST_AUTO_TEST_CASE(rows_are_the_same_wherever_they_begin) {
  for (Dtype t : {Dtype::float32, Dtype::float16}) {
    const auto item = std::int64_t(catena::itemsize(t));
    for (std::int64_t count : {24, 100, 256, 1000, 3003, 9004, 33000}) {
      const HostArray x = random_array(t, {5, count}, 1);
      const auto softmax = [&](const HostArray& in, Order order) {
        return run_row_kernel("softmax", signature_of_one(t).c_str(), {in, make_array(t, {5, count})}, {5, count}, {1},
                              order)
            .operands[1]
            .content();
      };
      const std::string first = softmax(x, Order::ascending);
      for (Order order : kOrders) {
        BOOST_CHECK(softmax(respaced(x, 0, 16 - count * item % 16), order) == first);
        BOOST_CHECK(softmax(respaced(x, item, 16 - count * item % 16), order) == first);
      }
    }
  }
}

// A NaN makes its row NaN, and an infinity the row in which it is the maximum; other rows stay as they are.
BOOST_AUTO_TEST_CASE(softmax_of_special_values) {
  constexpr float inf = HUGE_VALF;
  for (const char* name : {"softmax", "log_softmax"}) {
    for (std::int64_t count : {7, 64, 1000, 2000, 40000}) {
      HostArray x = random_array(Dtype::float32, {4, count}, 3);
      x.as<float>()[count / 2] = NAN;
      x.as<float>()[count] = -inf;
      x.as<float>()[2 * count + count - 1] = inf;
      for (Order order : kOrders) {
        RowRun run = run_row_kernel(name, "f->f", {x, make_array(Dtype::float32, {4, count})}, {4, count}, {1}, order);
        const float* y = run.operands[1].as<float>();
        bool good = std::isnan(y[2 * count + count - 1]);
        for (std::int64_t i = 0; i < count; ++i) {
          good = good && std::isnan(y[i]) && std::isfinite(y[3 * count + i]);
          good = good && (i == 0 || std::isfinite(y[count + i]));
        }
        BOOST_CHECK_MESSAGE(good, name << " of " << count);
        BOOST_CHECK_EQUAL(y[count], std::string_view(name) == "softmax" ? 0.0f : -inf);
      }
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

// gamma and beta are the same for all rows, so registers keep x alone.
BOOST_AUTO_TEST_CASE(layer_normalization_keeps_long_rows) {
  constexpr Dtype f = Dtype::float32;
  for (std::int64_t count : {std::int64_t(700), std::int64_t(10000), std::int64_t(10001)}) {
    const Shape shape{3, count};
    const auto laid_out = [&](HostArray a, std::int64_t row, std::int64_t element) {
      a.shape = shape;
      a.strides = Strides{row, element};
      return a;
    };
    const HostArray x = random_array(f, shape, 6);
    HostArray origin = x;
    origin.strides[1] = 0;
    const std::vector<HostArray> operands = {x,
                                             origin,
                                             laid_out(random_array(f, {count}, 7), 0, 4),
                                             laid_out(random_array(f, {count}, 8), 0, 4),
                                             scalar(f, 0.5, 2),
                                             scalar(f, 0, 2),
                                             make_array(f, shape),
                                             laid_out(make_array(f, {3}), 4, 0),
                                             laid_out(make_array(f, {3}), 4, 0)};
    for (Order order : kOrders) {
      RowRun run = run_row_kernel("layer_norm_fwd", "ffffff->f;ff", operands, shape, {1}, order);
      BOOST_CHECK(run.form == (count == 700 ? Form::row_warp : Form::row_block));
      for (std::int64_t r = 0; r < 3; ++r) {
        const auto at = [&](int k, std::int64_t i) { return double(run.operands[k].as<float>()[i]); };
        double mean = 0, variance = 0;
        for (std::int64_t i = 0; i < count; ++i) mean += at(0, r * count + i) / double(count);
        for (std::int64_t i = 0; i < count; ++i)
          variance += (at(0, r * count + i) - mean) * (at(0, r * count + i) - mean) / double(count);
        const double scale = 1 / std::sqrt(variance + 0.5);
        BOOST_REQUIRE_SMALL(at(7, r) + at(0, r * count) - mean, 1e-5);
        BOOST_REQUIRE_SMALL(at(8, r) - scale, 1e-5);
        for (std::int64_t i = 0; i < count; ++i) {
          const double y = at(2, i) * (at(0, r * count + i) - mean) * scale + at(3, i);
          BOOST_REQUIRE_SMALL(at(6, r * count + i) - y, 1e-4);
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
