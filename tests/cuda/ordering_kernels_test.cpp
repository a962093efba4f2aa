// Running results, joining and positions of nonzero elements: executed on the CPU from their generated text in three
// thread orders, against brute force.
#include <catena/tests/cuda/structural_kernels.h>

#include <algorithm>
#include <cmath>

using namespace cuda_device;
using nd::cuda::Form;

// ---- running results ----------------------------------------------------------------------------
namespace {

// f(values of a row) gives the results of that row.
template <class F>
void check_scan(const char* name, const char* signature, HostArray in, int axis, std::vector<Form> forms, F f,
                HostArray* view = nullptr) {
  const catena::KernelDef& def = catena::find_kernel(name);
  const int loop = loop_number(def, signature);
  HostArray out = view != nullptr ? *view : make_array(def.loop_table[loop].type[1], in.shape);
  HostArray expected = out;
  Shape kept = in.shape;
  const std::int64_t count = kept[axis];
  kept[axis] = 1;
  for (std::int64_t r = 0; r < catena::size_of(kept); ++r) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i)
      values.push_back(number(in.dtype, element(in, kept, r) + i * in.strides[axis]));
    const std::vector<double> results = f(values);
    for (std::int64_t i = 0; i < count; ++i)
      catena::Scalar(results[std::size_t(i)]).store(out.dtype, element(expected, kept, r) + i * out.strides[axis]);
  }
  for (Order order : kOrders) {
    HostArray actual = out;
    const nd::cuda::Sequence plan =
        nd::cuda::plan_scan({&def, loop, in.operand(), axis, actual.operand()}, kProcessors);
    std::vector<Form> used;
    for (const nd::cuda::LaunchPlan& launch : plan.launches) used.push_back(launch.key.form);
    BOOST_CHECK_MESSAGE(used == forms,
                        name << " along axis " << axis << " of " << in.shape << ": other launches than expected");
    run_sequence(plan, order);
    BOOST_CHECK_MESSAGE(actual.content() == expected.content(),
                        name << " along axis " << axis << " of " << in.shape << " differs in order " << int(order));
  }
}

std::vector<double> running_sum(const std::vector<double>& v) {
  std::vector<double> r;
  double sum = 0;
  for (double x : v) r.push_back(sum += x);
  return r;
}
std::vector<double> running_place(const std::vector<double>& v) {
  std::vector<double> r;
  std::size_t best = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (v[i] > v[best]) best = i;
    r.push_back(double(best));
  }
  return r;
}
std::vector<double> running_largest(const std::vector<double>& v) {
  std::vector<double> r;
  for (double x : v)
    r.push_back(r.empty() || x > r.back() || std::isnan(x) ? (!r.empty() && std::isnan(r.back()) ? r.back() : x)
                                                           : r.back());
  return r;
}
const std::vector<Form> kRows = {Form::scan_rows}, kColumns = {Form::scan_columns},
                        kCutRows = {Form::clear, Form::scan_chain},
                        kCutColumns = {Form::scan_column_sums, Form::scan_carries, Form::scan_columns};

}  // namespace

BOOST_AUTO_TEST_CASE(running_results) {
  constexpr Dtype f = Dtype::float32, l = Dtype::int64;
  check_scan("sum", "f->f", small_integers(f, {1}, 1), 0, kRows, running_sum);
  check_scan("sum", "f->f", small_integers(f, {0}, 1), 0, {}, running_sum);
  check_scan("sum", "f->f", small_integers(f, {3, 0}, 1), 0, {}, running_sum);
  check_scan("sum", "f->f", small_integers(f, {1023}, 1), 0, kRows, running_sum);
  check_scan("sum", "f->f", small_integers(f, {3, 4099}, 1), 1, kRows, running_sum);
  check_scan("sum", "f->f", small_integers(f, {40000}, 1), 0, kCutRows, running_sum);
  check_scan("sum", "f->f", small_integers(f, {2, 20000}, 1), 1, kCutRows, running_sum);
  check_scan("sum", "f->f", small_integers(f, {50, 37}, 1), 1, kColumns, running_sum);
  check_scan("sum", "f->f", small_integers(f, {37, 50}, 1), 0, kColumns, running_sum);
  check_scan("sum", "f->f", small_integers(f, {3000, 40}, 1), 0, kCutColumns, running_sum);
  check_scan("sum", "f->f", small_integers(f, {7, 100, 300}, 1), 1, kColumns, running_sum);
  check_scan("sum", "f->f", small_integers(f, {7, 200, 300}, 1), 1, kCutColumns, running_sum);
  check_scan("sum", "f->f", small_integers(f, {2, 3, 2, 500, 2, 3}, 1), 3, kCutColumns, running_sum);
  check_scan("sum", "l->l", small_integers(l, {5, 1000}, 1, 100), 1, kRows, running_sum);
  check_scan("sum", "e->e", small_integers(Dtype::float16, {600}, 1), 0, kRows, running_sum);
  check_scan("sum", "?->l", small_integers(Dtype::bool_, {3000}, 1, 2), 0, kRows, running_sum);
  check_scan("amax", "f->f", random_array(f, {30000}, 1), 0, kCutRows, running_largest);
  // Pieces of one and of several groups, one element around a whole number of pieces, and several rows.
  check_scan("sum", "f->f", small_integers(f, {8192}, 1), 0, kRows, running_sum);
  check_scan("sum", "f->f", small_integers(f, {8193}, 1), 0, kCutRows, running_sum);
  check_scan("sum", "f->f", small_integers(f, {3, 2 * 8192}, 1), 1, kCutRows, running_sum);
  check_scan("sum", "f->f", small_integers(f, {35 * 8192 + 3}, 1), 0, kCutRows, running_sum);
  check_scan("sum", "l->l", small_integers(l, {4, 5 * 4096 - 1}, 1, 100), 1, kCutRows, running_sum);
  check_scan("sum", "?->l", small_integers(Dtype::bool_, {33 * 4096 + 1}, 1, 2), 0, kCutRows, running_sum);
  check_scan("sum", "e->e", small_integers(Dtype::float16, {20000}, 1), 0, kCutRows, running_sum);
  check_scan("argmax", "f->l", random_array(f, {66 * 2048 + 5}, 1), 0, kCutRows, running_place);
  check_scan("argmax", "f->l", random_array(f, {30000}, 1), 0, kCutRows, running_place);
  check_scan("argmax", "f->l", random_array(f, {2000, 40}, 1), 0, kCutColumns, running_place);
  // Backwards, and into a transposed view of another dtype.
  HostArray backwards = small_integers(f, {900}, 1);
  backwards.offset += 899 * 4;
  backwards.strides[0] = -4;
  check_scan("sum", "f->f", backwards, 0, kRows, running_sum);
  HostArray view = transposed(make_array(Dtype::float64, {70, 3}), {1, 0});
  check_scan("sum", "f->f", small_integers(f, {3, 70}, 1), 1, kRows, running_sum, &view);
  HostArray long_view = transposed(make_array(Dtype::float64, {20000, 2}), {1, 0});
  check_scan("sum", "f->f", small_integers(f, {2, 20000}, 1), 1, kCutRows, running_sum, &long_view);
  HostArray odd = small_integers(f, {20001}, 1);  // no vector loads
  odd.offset += 4;
  odd.shape = Shape{20000};
  check_scan("sum", "f->f", odd, 0, kCutRows, running_sum);
}

// Sums that are rounded: the order of threads does not change a bit, and the sums are near those in float64.
BOOST_AUTO_TEST_CASE(rounded_running_results) {
  const catena::KernelDef& sum = catena::find_kernel("sum");
  const std::int64_t n = 40 * 8192 + 77;
  HostArray x = make_array(Dtype::float32, {n});
  std::mt19937 random(5);
  for (std::int64_t i = 0; i < n; ++i) x.as<float>()[i] = float(random() % 1000) / 7.0f;
  std::vector<HostArray> results;
  for (Order order : kOrders) {
    HostArray out = make_array(Dtype::float32, {n});
    run_sequence(nd::cuda::plan_scan({&sum, loop_number(sum, "f->f"), x.operand(), 0, out.operand()}, kProcessors),
                 order);
    BOOST_CHECK(results.empty() || results[0].content() == out.content());
    results.push_back(out);
  }
  double exact = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    exact += double(x.as<float>()[i]);
    BOOST_REQUIRE_SMALL(results[0].as<float>()[i] - exact, 2e-6 * exact);
  }
}

BOOST_AUTO_TEST_CASE(running_results_in_place) {
  const catena::KernelDef& sum = catena::find_kernel("sum");
  for (const Shape& shape : {Shape{30000}, Shape{900, 40}}) {
    HostArray x = small_integers(Dtype::float32, shape, 1);
    std::vector<HostArray> results;
    for (Order order : kOrders) {
      HostArray same = x, out = make_array(Dtype::float32, shape);
      run_sequence(
          nd::cuda::plan_scan({&sum, loop_number(sum, "f->f"), same.operand(), 0, same.operand()}, kProcessors), order);
      run_sequence(nd::cuda::plan_scan({&sum, loop_number(sum, "f->f"), x.operand(), 0, out.operand()}, kProcessors),
                   order);
      BOOST_CHECK(std::memcmp(same.data(), out.data(), std::size_t(catena::size_of(shape)) * 4) == 0);
    }
  }
}

// ---- joining ------------------------------------------------------------------------------------
namespace {

// The pieces along the axis, against the output element by element. Returns the number of launches.
std::size_t check_join(std::vector<HostArray> pieces, int axis, std::size_t item) {
  Shape shape = pieces[0].shape;
  shape[axis] = 0;
  for (const HostArray& x : pieces) shape[axis] += x.shape[axis];
  const Dtype t = pieces[0].dtype;
  std::vector<catena::BoundOperand> operands;
  for (HostArray& x : pieces) operands.push_back(x.operand());
  std::size_t launches = 0;
  for (Order order : kOrders) {
    HostArray out = make_array(t, shape);
    const nd::cuda::Sequence plan = nd::cuda::plan_join({operands, axis, out.operand()}, kProcessors);
    launches = plan.launches.size();
    if (item != 0) BOOST_CHECK_EQUAL(std::size_t(plan.launches[0].key.word_bytes), item);
    run_sequence(plan, order);
    for (std::int64_t i = 0; i < catena::size_of(shape); ++i) {
      std::int64_t rest = i, inner = 1;
      for (int a = axis + 1; a < shape.size(); ++a) inner *= shape[a];
      std::int64_t at = rest / inner % shape[axis];
      const std::int64_t outer = rest / inner / shape[axis], behind = rest % inner;
      std::size_t k = 0;
      while (at >= pieces[k].shape[axis]) at -= pieces[k++].shape[axis];
      const std::byte* expected =
          element(pieces[k], pieces[k].shape, (outer * pieces[k].shape[axis] + at) * inner + behind);
      BOOST_REQUIRE(std::memcmp(element(out, shape, i), expected, catena::itemsize(t)) == 0);
    }
    for (std::size_t k = std::size_t(catena::size_of(shape)) * catena::itemsize(t); k < out.bytes; ++k)
      BOOST_REQUIRE(out.first()[k] == std::byte(0xcd));
  }
  return launches;
}

}  // namespace

BOOST_AUTO_TEST_CASE(joining) {
  for (Dtype t : kAll)
    for (int axis = 0; axis < 3; ++axis) {
      std::vector<HostArray> pieces;
      for (std::int64_t n : {3, 1, 4}) {
        Shape shape{4, 3, 5};
        shape[axis] = n;
        pieces.push_back(random_array(t, shape, unsigned(n)));
      }
      BOOST_CHECK_EQUAL(check_join(pieces, axis, 0), 1u);
    }
  // Neighbouring elements move as wider words where all lengths and addresses allow it.
  check_join({random_array(Dtype::float32, {4, 8}, 1), random_array(Dtype::float32, {4, 4}, 2)}, 1, 16);
  check_join({random_array(Dtype::float32, {4, 8}, 1), random_array(Dtype::float32, {4, 2}, 2)}, 1, 8);
  check_join({random_array(Dtype::float32, {4, 8}, 1), random_array(Dtype::float32, {4, 3}, 2)}, 1, 4);
  // As many pieces as a launch takes, and one more.
  std::vector<HostArray> many;
  for (unsigned k = 0; k < 100; ++k) many.push_back(random_array(Dtype::int16, {std::int64_t(3 + k % 5)}, k));
  BOOST_CHECK_EQUAL(check_join(many, 0, 0), 1u);
  many.push_back(random_array(Dtype::int16, {2}, 7));
  BOOST_CHECK_EQUAL(check_join(many, 0, 0), 2u);
}

// ---- positions of nonzero elements --------------------------------------------------------------
namespace {

constexpr std::int64_t kPiece = catena::device::kPiece;

// Counts the pieces in one launch, with counters, and in two, and compares with the positions in the flattened array.
void check_counts(HostArray& in, const std::vector<std::int64_t>& found, bool index32, Order order, HostArray& counts) {
  const std::int64_t pieces = (catena::size_of(in.shape) + kPiece - 1) / kPiece;
  std::vector<std::int64_t> expected{std::int64_t(found.size())};
  for (std::int64_t piece = 0; piece < pieces; ++piece)
    expected.push_back(std::lower_bound(found.begin(), found.end(), piece * kPiece) - found.begin());
  std::vector<std::uint32_t> counters(nd::cuda::kCounters);
  for (const bool counted : {false, true}) {
    std::memset(counts.first(), 0xcd, counts.bytes);
    nd::cuda::BlockCounters give;
    if (counted) give = [&] { return counters.data(); };
    nd::cuda::Sequence plan = nd::cuda::plan_count_pieces({in.operand(), counts.operand()}, kProcessors, give);
    BOOST_CHECK_EQUAL(plan.launches.size(), pieces > 1 && !counted ? 2u : 1u);
    plan.launches[0].key.index32 &= index32;
    run_sequence(plan, order);
    const std::int64_t* const actual = counts.as<std::int64_t>();
    BOOST_CHECK_MESSAGE(
        std::equal(expected.begin(), expected.end(), actual),
        in.dtype << ' ' << in.shape << ": counts differ, " << (counted ? "with" : "without") << " counters");
    BOOST_CHECK(counters == std::vector<std::uint32_t>(nd::cuda::kCounters));
  }
}

void check_nonzero(HostArray in, bool index32 = true) {
  const int rank = in.shape.size();
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < catena::size_of(in.shape); ++i)
    if (number(in.dtype, element(in, in.shape, i)) != 0) found.push_back(i);
  const auto count = std::int64_t(found.size());
  for (Order order : kOrders) {
    HostArray counts = make_array(Dtype::int64, {catena::size_of_counts(catena::size_of(in.shape))});
    check_counts(in, found, index32, order, counts);
    HostArray out = make_array(Dtype::int64, {rank, count});
    nd::cuda::LaunchPlan plan = nd::cuda::plan_nonzero({in.operand(), counts.operand(), out.operand()}, kProcessors);
    BOOST_CHECK_EQUAL(plan.grid_x == 0, count == 0);
    if (count == 0) continue;
    plan.key.index32 &= index32;
    run_plan(plan, order);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t rest = found[std::size_t(i)];
      for (int a = rank - 1; a >= 0; rest /= in.shape[a--])
        BOOST_REQUIRE_EQUAL(out.as<std::int64_t>()[a * count + i], rest % in.shape[a]);
    }
    for (std::size_t k = std::size_t(rank * count) * 8; k < out.bytes; ++k)
      BOOST_REQUIRE(out.first()[k] == std::byte(0xcd));
  }
}

// Bytes of which about one in `every` is not 0.
HostArray sparse_bytes(Dtype dtype, std::int64_t n, unsigned every, std::int64_t skip_bytes = 0) {
  HostArray a = make_array(dtype, {n}, skip_bytes);
  std::mt19937 random(unsigned(n) + every);
  for (std::int64_t i = 0; i < n; ++i) a.data()[i] = std::byte(random() % every == 0 ? 1 + random() % 255 : 0);
  return a;
}

}  // namespace

BOOST_AUTO_TEST_CASE(nonzero_positions) {
  for (Dtype t : kAll) check_nonzero(small_integers(t, {700}, 1, 3));
  HostArray special = random_array(Dtype::float32, {5}, 1);
  const float values[] = {-0.0f, std::numeric_limits<float>::quiet_NaN(), 0.0f,
                          std::numeric_limits<float>::denorm_min(), 1.0f};
  std::memcpy(special.data(), values, sizeof values);
  check_nonzero(special);
  constexpr Dtype f = Dtype::float32;
  check_nonzero(small_integers(f, {0}, 1));
  check_nonzero(small_integers(f, {3, 1}, 1));
  check_nonzero(small_integers(f, {300, 400}, 1));
  check_nonzero(small_integers(f, {30, 40}, 1), false);
  check_nonzero(transposed(small_integers(f, {30, 40, 11}, 1), {2, 0, 1}));
  check_nonzero(transposed(small_integers(f, {2, 3, 4, 3, 2}, 1), {4, 3, 2, 1, 0}));
  HostArray zeros = make_array(f, {5000});
  std::memset(zeros.data(), 0, 5000 * 4);
  check_nonzero(zeros);
  // A number of elements around whole pieces, and several pieces per block.
  for (const std::int64_t n : {kPiece - 1, kPiece, kPiece + 1, 2 * kPiece, 33 * kPiece - 7})
    check_nonzero(small_integers(f, {n}, 1));
  // The first and the last piece have none, and one has only such elements.
  HostArray parts = make_array(Dtype::int16, {4 * kPiece});
  std::memset(parts.data(), 0, std::size_t(4 * kPiece) * 2);
  std::fill_n(parts.as<std::int16_t>() + kPiece, kPiece + 1, std::int16_t(-1));
  check_nonzero(parts);
}

BOOST_AUTO_TEST_CASE(nonzero_bytes) {
  for (const std::int64_t n :
       {std::int64_t(0), std::int64_t(1), std::int64_t(7), kPiece - 1, kPiece, kPiece + 1, 70 * kPiece + 3})
    for (const unsigned every : {1u, 3u}) check_nonzero(sparse_bytes(Dtype::uint8, n, every));
  check_nonzero(sparse_bytes(Dtype::bool_, 3 * kPiece, 2, 3));  // no words
  HostArray reversed = sparse_bytes(Dtype::int8, 2 * kPiece + 5, 2);
  reversed.offset += 2 * kPiece + 4;
  reversed.strides[0] = -1;
  check_nonzero(reversed);
}

// More pieces than the threads of a block sum at once.
BOOST_AUTO_TEST_CASE(counts_of_many_pieces) {
  HostArray in = sparse_bytes(Dtype::bool_, 2050 * kPiece + 1, 1000);
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < in.shape[0]; ++i)
    if (in.data()[i] != std::byte(0)) found.push_back(i);
  HostArray counts = make_array(Dtype::int64, {catena::size_of_counts(in.shape[0])});
  check_counts(in, found, true, Order::descending, counts);
}

// An array of one piece needs no counts.
BOOST_AUTO_TEST_CASE(one_piece_without_counts) {
  HostArray in = sparse_bytes(Dtype::bool_, 100, 1), out = make_array(Dtype::int64, {1, 100});
  run_plan(nd::cuda::plan_nonzero({in.operand(), {}, out.operand()}, kProcessors), Order::ascending);
  for (std::int64_t i = 0; i < 100; ++i) BOOST_REQUIRE_EQUAL(out.as<std::int64_t>()[i], i);
}
