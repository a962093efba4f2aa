// Indexing, random fills and matrix products: executed on the CPU from their generated text in three thread orders,
// against brute force.
#include <catena/tests/cuda/structural_kernels.h>

#include <catena/kernels/random.h>

namespace {

using namespace cuda_device;
using nd::cuda::Form;

// ---- indexing by arrays -------------------------------------------------------------------------
struct Index {
  HostArray array;  // its strides are those over the loop
  std::int64_t length, stride;
};
struct Indexing {
  HostArray base, other;
  std::vector<Index> indices;
  Shape loop;
};

std::int64_t value_of(Dtype t, const std::byte* p) {
  alignas(16) std::byte v[16];
  convert(t, p, Dtype::int64, v);
  return *reinterpret_cast<std::int64_t*>(v);
}

// f(element of the base, element of the other side) in C order.
template <class F> void walk(Indexing& x, F f) {
  for (std::int64_t i = 0; i < catena::size_of(x.loop); ++i) {
    std::byte* base = element(x.base, x.loop, i);
    for (Index& index : x.indices) {
      const std::byte* p = element(index.array, x.loop, i);
      std::int64_t at;
      if (index.array.dtype == Dtype::uint64)
        at = std::int64_t(*reinterpret_cast<const std::uint64_t*>(p) % std::uint64_t(index.length));
      else at = ((value_of(index.array.dtype, p) % index.length) + index.length) % index.length;
      base += at * index.stride;
    }
    f(base, element(x.other, x.loop, i));
  }
}

nd::cuda::LaunchPlan plan_of(Indexing& x, Form form) {
  std::vector<catena::bound::Index> axes;
  for (Index& index : x.indices) axes.push_back({index.array.operand(), index.length, index.stride});
  const catena::bound::Gather call{x.loop, x.base.operand(), axes, x.other.operand()};
  if (form == Form::gather) return nd::cuda::plan_gather(call, kProcessors);
  const auto mode = form == Form::scatter ? catena::ScatterMode::set : catena::ScatterMode::add;
  return nd::cuda::plan_scatter({call, mode}, kProcessors);
}

// Adds the element at `other` to that at `base`.
void add_element(Dtype dtype, std::byte* base, const std::byte* other) {
  catena::visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T& to = *reinterpret_cast<T*>(base);
    const T v = *reinterpret_cast<const T*>(other);
    if constexpr (std::is_same_v<T, bool>) to = to || v;
    else to = T(catena::wrap_add(catena::load(to), catena::load(v)));
  });
}

// All three, against the walk; scatters that set get indices without repetition. `item`: bytes that a thread moves.
void check_indexing(Indexing x, int rank, std::size_t item, bool index32 = true) {
  for (Form form : {Form::gather, Form::scatter, Form::scatter_add}) {
    Indexing expected = x;
    const std::size_t bytes = catena::itemsize(x.base.dtype);
    walk(expected, [&](std::byte* base, std::byte* other) {
      if (form == Form::gather) return void(std::memcpy(other, base, bytes));
      if (form == Form::scatter) return void(std::memcpy(base, other, bytes));
      add_element(x.base.dtype, base, other);
    });
    for (Order order : kOrders) {
      Indexing actual = x;
      nd::cuda::LaunchPlan plan = plan_of(actual, form);
      plan.key.index32 &= index32;
      BOOST_CHECK_EQUAL(nd::cuda::name_of(plan.key.form), nd::cuda::name_of(form));
      if (form != Form::scatter_add) {
        BOOST_CHECK_EQUAL(int(plan.key.rank), rank);
        BOOST_CHECK_EQUAL(std::size_t(plan.key.word_bytes), item);
      }
      run_plan(plan, order);
      BOOST_CHECK_MESSAGE(
          actual.base.content() == expected.base.content() && actual.other.content() == expected.other.content(),
          nd::cuda::name_of(form) << " of " << catena::name_of(x.base.dtype) << " over " << x.loop << " in order "
                                  << int(order));
    }
  }
}

// A permutation of 0..n-1, some of them counted from the end or beyond it.
HostArray permutation(Dtype dtype, std::int64_t n, unsigned seed, std::int64_t modulus) {
  HostArray a = make_array(dtype, {n});
  std::vector<std::int64_t> v(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) v[std::size_t(i)] = i;
  std::mt19937 random(seed);
  std::shuffle(v.begin(), v.end(), random);
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t value = v[std::size_t(i)];
    if (catena::kind_of(dtype) == catena::DtypeKind::signed_ && i % 3 == 1)
      value -= modulus * (catena::itemsize(dtype) > 1 ? 1 + i % 2 : 1);
    if (catena::is_integer(dtype) && catena::itemsize(dtype) >= 4 && i % 3 == 2) value += 2 * modulus;
    catena::Scalar(value).store(dtype, a.data() + i * std::int64_t(catena::itemsize(dtype)));
  }
  return a;
}

Indexing take_rows(Dtype dtype, Dtype index_dtype, std::int64_t rows, std::int64_t columns, std::int64_t taken) {
  const std::int64_t item = std::int64_t(catena::itemsize(dtype));
  Indexing x{
      small_integers(dtype, {rows, columns}, 1), small_integers(dtype, {taken, columns}, 2), {}, {taken, columns}};
  x.base.strides = Strides{0, item};
  Index index{permutation(index_dtype, taken, 3, rows), rows, columns * item};
  index.array.strides.push_back(0);
  x.indices.push_back(index);
  return x;
}

}  // namespace

BOOST_AUTO_TEST_CASE(indexing_every_dtype) {
  for (Dtype t : kAll) check_indexing(take_rows(t, Dtype::int64, 40, 33, 37), 2, catena::itemsize(t));
  // Repeated indices, more of them than threads: sums are exact because all values are small integers.
  for (Dtype t : kAll) {
    Indexing x = take_rows(t, Dtype::int64, 7, 5, 3000);
    for (std::int64_t i = 0; i < 3000; ++i) x.indices[0].array.as<std::int64_t>()[i] = (i * i) % 5;
    std::vector<double> sums(35);
    for (std::int64_t i = 0; i < 35; ++i)
      sums[std::size_t(i)] = number(t, x.base.data() + i * std::int64_t(catena::itemsize(t)));
    for (std::int64_t i = 0; i < 3000; ++i)
      for (std::int64_t c = 0; c < 5; ++c)
        sums[std::size_t((i * i) % 5 * 5 + c)] += number(t, element(x.other, x.loop, i * 5 + c));
    for (Order order : kOrders) {
      Indexing actual = x;
      run_plan(plan_of(actual, Form::scatter_add), order);
      for (std::int64_t i = 0; i < 35; ++i) {
        double expected = sums[std::size_t(i)];
        if (t == Dtype::bool_) expected = expected != 0;
        if (catena::is_integer(t) && catena::itemsize(t) == 1) {
          const auto wrapped = std::uint8_t(std::int64_t(expected));
          expected = t == Dtype::int8 ? double(std::int8_t(wrapped)) : double(wrapped);
        }
        // Adding to 16 bits rounds at every step; integers below 256 are exact in bfloat16.
        if (t == Dtype::bfloat16 && std::fabs(expected) > 200) continue;
        BOOST_REQUIRE_EQUAL(number(t, actual.base.data() + i * std::int64_t(catena::itemsize(t))), expected);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(indexing_index_dtypes) {
  for (Dtype t : {Dtype::int8, Dtype::uint8, Dtype::int16, Dtype::uint16, Dtype::int32, Dtype::uint32, Dtype::int64,
                  Dtype::uint64})
    check_indexing(take_rows(Dtype::float32, t, 100, 3, 100), 2, 4);
  check_indexing(take_rows(Dtype::float32, Dtype::bool_, 2, 3, 2), 2, 4);
  Indexing huge = take_rows(Dtype::float32, Dtype::uint64, 100, 3, 100);
  for (std::int64_t i = 0; i < 100; ++i)
    huge.indices[0].array.as<std::uint64_t>()[i] = ~std::uint64_t(0) - std::uint64_t(i);
  check_indexing(huge, 2, 4);
}

namespace {

// base[index[i]] += values[i] for n positions and `targets` elements that lie `apart` elements from each other.
struct Additions {
  Indexing x;

  Additions(Dtype dtype, std::int64_t targets, std::int64_t n, std::int64_t apart, unsigned seed, int limit = 3)
      : x{small_integers(dtype, {targets * apart}, seed, limit), small_integers(dtype, {n}, seed + 1, limit), {}, {n}} {
    x.base.strides = Strides{0};
    x.indices.push_back({make_array(Dtype::int64, {n}), targets, apart * std::int64_t(catena::itemsize(dtype))});
    std::mt19937 random(seed + 2);
    for (std::int64_t i = 0; i < n; ++i) index(i) = std::int64_t(random() % unsigned(3 * targets)) - targets;
  }
  std::int64_t& index(std::int64_t i) { return x.indices[0].array.as<std::int64_t>()[i]; }

  void check(Form form) {
    Indexing expected = x;
    walk(expected, [&](std::byte* base, std::byte* other) { add_element(x.base.dtype, base, other); });
    for (Order order : kOrders) {
      Indexing actual = x;
      const nd::cuda::LaunchPlan plan = plan_of(actual, Form::scatter_add);
      BOOST_CHECK_EQUAL(nd::cuda::name_of(plan.key.form), nd::cuda::name_of(form));
      run_plan(plan, order);
      BOOST_CHECK_MESSAGE(actual.base.content() == expected.base.content(),
                          catena::name_of(x.base.dtype) << ": " << x.loop << " additions to " << x.indices[0].length
                                                        << " elements in order " << int(order));
    }
  }
};

}  // namespace

// The sums of a block are in shared memory where there are few targets: 5000 additions are five blocks, to each of
// which at least four elements per target belong.
BOOST_AUTO_TEST_CASE(additions_to_few_targets) {
  for (Dtype t : kAll)
    for (const auto& [targets, n] : {std::pair{1, 4}, {7, 1025}, {7, 5000}})
      Additions(t, targets, n, 1, 1).check(Form::scatter_add_few);
  for (const auto& [targets, n] : {std::pair{1, 3}, {251, 5000}, {8192, 20000}})
    Additions(Dtype::float32, targets, n, 1, 2).check(Form::scatter_add);
  for (const std::int64_t n : {1023, 1024, 1025, 2048, 5000})
    Additions(Dtype::int64, 250 * n / 5000, n, 3, 3).check(Form::scatter_add_few);
  // Carries between the halves of 64-bit numbers.
  Additions wide(Dtype::int64, 5, 3000, 2, 4);
  std::mt19937_64 random(5);
  for (HostArray* a : {&wide.x.base, &wide.x.other})
    for (std::int64_t i = 0; i < catena::size_of(a->shape); ++i) a->as<std::uint64_t>()[i] = random() | 0xffffff00u;
  wide.check(Form::scatter_add_few);
  // One value for all, as of counts, and a table of 32 KiB with more additions than one block takes at a time.
  Additions counts(Dtype::int64, 100, 3000, 1, 6);
  counts.x.other.strides = Strides{0};
  counts.check(Form::scatter_add_few);
}

// Other targets share 1024 places of a block if they repeat.
BOOST_AUTO_TEST_CASE(additions_to_repeated_targets) {
  for (Dtype t : kAll) {
    Additions runs(t, 5000, 12000, 1, 7);  // in runs of four, to more targets than there are places
    for (std::int64_t i = 0; i < 12000; ++i) runs.index(i) = (i / 4 * 13) % 5000;
    runs.check(Form::scatter_add);
    Additions same(t, 5000, 600, 2, 8);  // all to one
    for (std::int64_t i = 0; i < 600; ++i) same.index(i) = 4321;
    same.check(Form::scatter_add);
    Additions(t, 5000, 300, 1, 9).check(Form::scatter_add);  // hardly any target twice
  }
}

// -0 stays if only -0 is added, and a NaN arrives.
BOOST_AUTO_TEST_CASE(additions_of_special_numbers) {
  for (const std::int64_t targets : {3, 5000})
    for (const Dtype t : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
      Additions x(t, targets, 600, 1, 10);
      const std::size_t item = catena::itemsize(t);
      for (HostArray* a : {&x.x.base, &x.x.other})
        for (std::int64_t i = 0; i < catena::size_of(a->shape); ++i)
          catena::Scalar(-0.0).store(t, a->data() + std::size_t(i) * item);
      for (std::int64_t i = 0; i < 600; ++i) x.index(i) = i % 3;
      catena::Scalar(std::nan("")).store(t, x.x.other.data() + 100 * item);  // to element 1
      for (Order order : kOrders) {
        Indexing actual = x.x;
        run_plan(plan_of(actual, Form::scatter_add), order);
        BOOST_CHECK(std::signbit(number(t, actual.base.data())) && number(t, actual.base.data()) == 0);
        BOOST_CHECK(std::isnan(number(t, actual.base.data() + item)));
        BOOST_CHECK(std::signbit(number(t, actual.base.data() + 2 * item)) &&
                    number(t, actual.base.data() + 2 * item) == 0);
      }
    }
}

BOOST_AUTO_TEST_CASE(indexing_layouts) {
  constexpr Dtype f = Dtype::float32, l = Dtype::int64;
  // Rows whose elements move together, up to 16 bytes at once.
  check_indexing(take_rows(f, l, 40, 12, 37), 2, 16);
  check_indexing(take_rows(f, l, 40, 6, 37), 2, 8);
  check_indexing(take_rows(Dtype::uint8, l, 40, 16, 37), 1, 16);
  check_indexing(take_rows(Dtype::float16, l, 40, 33, 37), 2, 2);
  check_indexing(take_rows(f, l, 40, 33, 37), 2, 4, false);
  // One element, nothing at all, more than all blocks together.
  check_indexing(take_rows(f, l, 1, 1, 1), 1, 4);
  check_indexing(take_rows(f, l, 40, 3, 0), 2, 4);
  check_indexing(take_rows(f, l, 5000, 3, 5000), 2, 4);
  // Elements of a matrix by two indices, of which one is repeated along an axis; the values transposed.
  Indexing grid{small_integers(f, {30, 20}, 1), transposed(small_integers(f, {15, 30}, 2), {1, 0}), {}, {30, 15}};
  grid.base.strides = Strides{0, 0};
  Index down{permutation(Dtype::int32, 30, 4, 30), 30, 80}, across{permutation(Dtype::int64, 15, 5, 20), 20, 4};
  down.array.strides = Strides{4, 0};
  across.array.strides = Strides{0, 8};
  grid.indices = {down, across};
  check_indexing(grid, 2, 4);
  // Without any index it is a copy.
  Indexing plain{
      small_integers(f, {6, 5, 4}, 1), transposed(small_integers(f, {4, 6, 5}, 2), {1, 2, 0}), {}, {6, 5, 4}};
  check_indexing(plain, 2, 4);
  // More axes than are worth kernels of their own, none of which merge.
  const Shape many{2, 3, 2, 3, 2, 3};
  Indexing deep{transposed(small_integers(f, many, 1), {5, 4, 3, 2, 1, 0}),
                small_integers(f, {3, 2, 3, 2, 3, 2}, 2),
                {},
                {3, 2, 3, 2, 3, 2}};
  Index mirrored{permutation(Dtype::int32, 3, 4, 3), 3, deep.base.strides[2]};
  mirrored.array.strides = Strides{0, 0, 4, 0, 0, 0};
  deep.base.strides[2] = 0;
  deep.indices = {mirrored};
  check_indexing(deep, 0, 4);
}

BOOST_AUTO_TEST_CASE(indexing_errors) {
  Indexing x = take_rows(Dtype::float32, Dtype::int64, 4, 3, 4);
  const auto says = [](const char* text) {
    return [text](const catena::Error& e) { return std::string(e.what()) == text; };
  };
  Indexing floats = x;
  floats.indices[0].array.dtype = Dtype::float64;
  BOOST_CHECK_EXCEPTION(plan_of(floats, Form::gather), catena::IndexError,
                        says("indexing: index arrays must be of an integer dtype, not float64"));
  Indexing nothing = x;
  nothing.indices[0].length = 0;
  BOOST_CHECK_EXCEPTION(plan_of(nothing, Form::gather), catena::IndexError,
                        says("indexing: an axis of length 0 has no element for the 12 indices"));
  Indexing many = x;
  many.indices.assign(16, x.indices[0]);
  BOOST_CHECK_EXCEPTION(plan_of(many, Form::gather), catena::ValueError,
                        says("indexing: 16 index arrays exceed the limit of 15 on CUDA"));
}

// ---- random numbers -----------------------------------------------------------------------------
namespace {

// The value of element i of a fill, from the definition of the numbers.
template <class T> T expected_number(const catena::bound::Random& call, std::uint64_t offset, std::int64_t i) {
  const std::uint64_t seed = call.seed;
  if constexpr (catena::is_float<T>) {
    using Bits = catena::unsigned_of<T>;
    const Bits bits =
        Bits(sizeof(T) == 8 ? catena::random_bits64(seed, offset, i) : catena::random_bits32(seed, offset, i));
    if (call.kind == catena::RandomKind::uniform) return catena::uniform_from_bits(bits);
    T y;
    catena::normal_from_words(catena::philox_words<int(sizeof(T) / 4)>(seed, offset, i), int(i & 3), y);
    return y;
  } else if (call.kind == catena::RandomKind::bits) {
    return T(sizeof(T) == 8 ? catena::random_bits64(seed, offset, i) : catena::random_bits32(seed, offset, i));
  } else {
    return T(catena::integer_from_words(catena::philox_words<2>(seed, offset, i), int(i & 3), i, seed, offset, call.low,
                                        call.high));
  }
}

template <class T, class Slot> void check_random(Dtype dtype, catena::bound::Random call, std::int64_t skip = 0) {
  for (std::int64_t n : {std::int64_t(0), std::int64_t(1), std::int64_t(1023), std::int64_t(40000)}) {
    HostArray out = make_array(dtype, {n}, skip);
    std::uint64_t more = 1000;
    for (const std::uint64_t* device_offset :
         {static_cast<const std::uint64_t*>(nullptr), static_cast<const std::uint64_t*>(&more)}) {
      for (Order order : kOrders) {
        HostArray actual = out;
        call.out = actual.operand();
        run_plan(nd::cuda::plan_random(call, device_offset, kProcessors), order);
        for (std::int64_t i = 0; i < n; ++i) {
          const Slot wide = expected_number<Slot>(call, call.offset + (device_offset != nullptr ? more : 0), i);
          T expected = T(wide);
          if (call.kind == catena::RandomKind::uniform && sizeof(T) == 2 && double(expected) == 1)
            --*reinterpret_cast<std::uint16_t*>(&expected);
          const T v = actual.as<T>()[i];
          if (call.kind == catena::RandomKind::normal)  // host compilers may call another logarithm
            BOOST_REQUIRE_SMALL(double(v) - double(expected), sizeof(T) == 2 ? 0.04 : 1e-5);
          else BOOST_REQUIRE_EQUAL(std::memcmp(&v, &expected, sizeof(T)), 0);
        }
        for (std::size_t k = std::size_t(skip) + std::size_t(n) * sizeof(T); k < out.bytes; ++k)
          BOOST_REQUIRE(actual.first()[k] == out.first()[k]);
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(random_fills) {
  using catena::RandomKind;
  catena::bound::Random call{RandomKind::bits, 0x123456789abcdef, 77, 0, 0, {}};
  check_random<std::uint32_t, std::uint32_t>(Dtype::uint32, call);
  check_random<std::uint64_t, std::uint64_t>(Dtype::uint64, call);
  check_random<std::uint32_t, std::uint32_t>(Dtype::uint32, call, 4);  // not aligned to 16 bytes
  call.kind = RandomKind::uniform;
  check_random<float, float>(Dtype::float32, call);
  check_random<double, double>(Dtype::float64, call);
  check_random<catena::float16, float>(Dtype::float16, call);
  check_random<catena::bfloat16, float>(Dtype::bfloat16, call);
  call.kind = RandomKind::normal;
  check_random<float, float>(Dtype::float32, call);
  check_random<double, double>(Dtype::float64, call);
  check_random<catena::float16, float>(Dtype::float16, call);
  call.kind = RandomKind::integers;
  call.low = -50;
  call.high = 77;
  check_random<std::int8_t, std::int8_t>(Dtype::int8, call);
  check_random<std::int32_t, std::int32_t>(Dtype::int32, call);
  check_random<std::int64_t, std::int64_t>(Dtype::int64, call, 8);
  // So wide a range that about half of the tries are rejected.
  call.low = std::numeric_limits<std::int64_t>::min();
  call.high = 1;
  check_random<std::int64_t, std::int64_t>(Dtype::int64, call);
  call.out.dtype = Dtype::float32;
  BOOST_CHECK_THROW(nd::cuda::plan_random(call, nullptr, kProcessors), catena::TypeError);
}

// Rounding 2^-24 steps to 16 bits would give 1 about once in 500 numbers of bfloat16.
BOOST_AUTO_TEST_CASE(random_uniform_16_bit_numbers_stay_below_one) {
  HostArray out = make_array(Dtype::bfloat16, {20000});
  run_plan(nd::cuda::plan_random({catena::RandomKind::uniform, 5, 0, 0, 0, out.operand()}, nullptr, kProcessors),
           Order::shuffled);
  int largest = 0;
  for (int i = 0; i < 20000; ++i) {
    BOOST_REQUIRE_LT(float(out.as<catena::bfloat16>()[i]), 1.0f);
    largest += out.as<catena::bfloat16>()[i].bits == 0x3f7f;
  }
  BOOST_CHECK_GT(largest, 40);
}

// ---- matrix products ----------------------------------------------------------------------------
namespace {

// Small integers, so that sums are exact whatever their order.
void check_matmul(HostArray a, HostArray b, HostArray out, Form form, bool second = false) {
  const int r = out.shape.size();
  const std::int64_t m = out.shape[r - 2], n = out.shape[r - 1], k = a.shape[r - 1];
  HostArray expected = out;
  Shape batch;
  for (int i = 0; i < r - 2; ++i) batch.push_back(out.shape[i]);
  const auto at = [&](HostArray& x, std::int64_t number, std::int64_t row, std::int64_t column) {
    std::byte* p = x.data() + row * x.strides[r - 2] + column * x.strides[r - 1];
    for (int i = r - 3; i >= 0; --i) {
      p += (x.shape[i] == 1 ? 0 : number % batch[i]) * x.strides[i];
      number /= batch[i];
    }
    return p;
  };
  for (std::int64_t i = 0; i < catena::size_of(batch) * m * n; ++i) {
    const std::int64_t number = i / (m * n), row = i % (m * n) / n, column = i % n;
    double sum = 0;
    for (std::int64_t j = 0; j < k; ++j)
      sum +=
          cuda_device::number(a.dtype, at(a, number, row, j)) * cuda_device::number(b.dtype, at(b, number, j, column));
    if (out.dtype == Dtype::bool_) sum = sum != 0;
    std::byte* to = at(expected, number, row, column);
    if (catena::is_floating(out.dtype)) {
      catena::Scalar(sum).store(out.dtype, to);
    } else {  // the low bytes
      const auto whole = std::int64_t(sum);
      std::memcpy(to, &whole, catena::itemsize(out.dtype));
    }
  }
  for (Order order : kOrders) {
    HostArray actual = out;
    const nd::cuda::Sequence plan = nd::cuda::plan_matmul({a.operand(), b.operand(), actual.operand()}, kProcessors);
    BOOST_REQUIRE_EQUAL(plan.launches.empty(), catena::size_of(out.shape) == 0);
    if (!plan.launches.empty()) {
      BOOST_CHECK_EQUAL(nd::cuda::name_of(plan.launches[0].key.form), nd::cuda::name_of(form));
      BOOST_CHECK_EQUAL(plan.launches.size(), second ? 2u : 1u);
    }
    run_sequence(plan, order);
    BOOST_CHECK_MESSAGE(actual.content() == expected.content(), "matmul of " << catena::name_of(out.dtype) << " "
                                                                             << a.shape << " and " << b.shape
                                                                             << " differs in order " << int(order));
  }
}
void check_product(Dtype t, std::int64_t m, std::int64_t n, std::int64_t k, Form form, bool second = false) {
  check_matmul(small_integers(t, {m, k}, 1), small_integers(t, {k, n}, 2), make_array(t, {m, n}), form, second);
}

}  // namespace

BOOST_AUTO_TEST_CASE(matmul_every_dtype) {
  for (Dtype t : kAll) {
    check_product(t, 70, 67, 37, Form::matmul_tiles);
    check_product(t, 3, 50, 21, Form::matmul_columns);
    check_product(t, 50, 1, 21, Form::matmul_rows);
    check_product(t, 5, 6, 600, Form::matmul_tiles, true);
  }
  // Wrapping products.
  check_matmul(small_integers(Dtype::int8, {9, 200}, 1, 100), small_integers(Dtype::int8, {200, 8}, 2, 100),
               make_array(Dtype::int8, {9, 8}), Form::matmul_tiles);
}

BOOST_AUTO_TEST_CASE(matmul_shapes) {
  constexpr Dtype f = Dtype::float32;
  check_product(f, 1, 1, 1, Form::matmul_rows);
  check_product(f, 1, 1, 5000, Form::matmul_rows, true);
  check_product(f, 64, 64, 16, Form::matmul_tiles);
  check_product(f, 200, 130, 65, Form::matmul_tiles);
  check_product(f, 5, 5, 0, Form::matmul_tiles);  // zeros
  check_product(f, 0, 5, 3, Form::matmul_rows);
  check_product(f, 2, 100, 100, Form::matmul_columns);
  check_product(f, 2, 100, 900, Form::matmul_columns, true);
  check_product(f, 100, 2, 900, Form::matmul_rows);
  check_product(f, 100, 4, 7, Form::matmul_rows);
  check_product(f, 4, 40, 2000, Form::matmul_columns, true);
}

BOOST_AUTO_TEST_CASE(matmul_strides) {
  constexpr Dtype f = Dtype::float32;
  const auto t = [](const Shape& shape, unsigned seed) {
    return transposed(small_integers(f, {shape[1], shape[0]}, seed), {1, 0});
  };
  check_matmul(t({70, 37}, 1), small_integers(f, {37, 67}, 2), make_array(f, {70, 67}), Form::matmul_tiles);
  check_matmul(small_integers(f, {70, 37}, 1), t({37, 67}, 2), transposed(make_array(f, {67, 70}), {1, 0}),
               Form::matmul_tiles);
  check_matmul(small_integers(f, {3, 37}, 1), t({37, 67}, 2), make_array(f, {3, 67}), Form::matmul_rows);
  check_matmul(t({67, 37}, 1), small_integers(f, {37, 3}, 2), make_array(f, {67, 3}), Form::matmul_columns);
  HostArray backwards = small_integers(f, {37, 20}, 1);
  backwards.offset += 36 * 80;
  backwards.strides[0] = -80;
  check_matmul(small_integers(f, {30, 37}, 2), backwards, make_array(f, {30, 20}), Form::matmul_tiles);
  // Batches: merged, repeated, and of more axes than are worth kernels of their own.
  check_matmul(small_integers(f, {3, 4, 9, 11}, 1), small_integers(f, {3, 4, 11, 8}, 2), make_array(f, {3, 4, 9, 8}),
               Form::matmul_tiles);
  check_matmul(small_integers(f, {3, 1, 9, 11}, 1), small_integers(f, {1, 4, 11, 8}, 2), make_array(f, {3, 4, 9, 8}),
               Form::matmul_tiles);
  check_matmul(small_integers(f, {1, 3, 2, 11}, 1), small_integers(f, {5, 1, 11, 40}, 2), make_array(f, {5, 3, 2, 40}),
               Form::matmul_columns);
  const Shape axes{2, 1, 2, 1, 2, 5, 6}, others{1, 2, 1, 2, 1, 6, 7}, both{2, 2, 2, 2, 2, 5, 7};
  check_matmul(small_integers(f, axes, 1), small_integers(f, others, 2), make_array(f, both), Form::matmul_tiles);
}
