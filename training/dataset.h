// Datasets: a size and examples by index.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/index_key.h>
#include <catena/kernels/base/pointers.h>
#include <catena/training/fields.h>
#include <catena/training/held.h>

namespace training {

using autograd::Array;
using autograd::Device;

namespace internal {
// A Variable, whose array is the component. (autograd/variable.h is not included here.)
template <class T>
concept HasArray = requires(const T& v) {
  { v.data() } -> std::convertible_to<Array>;
  v.creator();
};
}  // namespace internal

// A component of an example: an array, or a host number as a 0-d array on the CPU. Integers become int64, float becomes
// float32, other real numbers float64, bool stays bool.
class CATENA_EXPORT ExampleValue {
 public:
  ExampleValue(const Array& a) : array_(a) {}
  template <autograd::ForeignArray T> ExampleValue(const T& a) : array_(a) {}
  template <internal::HasArray T> ExampleValue(const T& v) : array_(v.data()) {}
  template <class T> ExampleValue(T number) requires std::is_arithmetic_v<T> {
    if constexpr (std::is_same_v<T, bool>) array_ = of_bool(number);
    else if constexpr (std::is_integral_v<T>) array_ = of_integer(static_cast<std::int64_t>(number));
    else if constexpr (std::is_same_v<T, float>) array_ = of_float(number);
    else array_ = of_double(static_cast<double>(number));
  }
  const Array& array() const noexcept { return array_; }

 private:
  static Array of_bool(bool v);
  static Array of_integer(std::int64_t v);
  static Array of_float(float v);
  static Array of_double(double v);
  Array array_;
};

namespace internal {
template <class T> struct AreValues : std::false_type {};
template <class... T>
struct AreValues<std::tuple<T...>> : std::bool_constant<(... && std::is_convertible_v<const T&, ExampleValue>)> {};
using NamedValueList = std::vector<std::pair<std::string, ExampleValue>>;
// A std::map or a std::unordered_map.
template <class M>
concept NamedValues = std::is_convertible_v<const typename M::key_type&, std::string> &&
    std::is_convertible_v<const typename M::mapped_type&, ExampleValue>;
template <class M> NamedValueList list_of(const M& map) {
  NamedValueList list;
  for (const auto& [name, value] : map) list.emplace_back(name, ExampleValue(value));
  return list;
}
// A struct of arrays and numbers.
template <class T>
concept StructExample = HasFields<T> && AreValues<decltype(tuple_of_fields(std::declval<const T&>()))>::value;
}  // namespace internal

namespace internal {
CATENA_EXPORT catena::Scalar number_of(const Array& component);  // ValueError unless it has one element
// The types of components in a std::tuple to which an example converts.
template <class T>
concept TupleComponent = std::is_arithmetic_v<T> ||(std::is_class_v<T>&& std::is_constructible_v<T, const Array&>);
}  // namespace internal

// An example or a batch: a list of components (a tuple), or named components (a map). A single array is a list of one.
// One of two components can be taken apart: auto [x, t] = concat_examples(batch). With another number of components
// that is a ValueError; unpack takes any number: auto [x, t, weight] = example.unpack<3>().
struct CATENA_EXPORT Example {
  std::vector<Array> values;
  std::vector<std::string> names;  // names of the values if the example is a map, else empty

  Example() = default;
  Example(Array a) : values{std::move(a)} {}
  template <internal::HasArray V>
  requires(!std::is_base_of_v<Example, V>) Example(const V& variable) : values{variable.data()} {}
  Example(std::vector<Array> tuple) : values(std::move(tuple)) {}
  // Make an example of a number, and of a tuple of arrays and numbers: Example({x, 3}).
  template <class T> Example(T number) requires std::is_arithmetic_v<T> : values{ExampleValue(number).array()} {}
  Example(std::initializer_list<ExampleValue> tuple);
  // A map: Example({{"image", x}, {"label", 3}}).
  Example(std::vector<std::pair<std::string, ExampleValue>> map);
  // The result of a function of an example, such as std::tuple(x / 255, t).
  template <class... T>
  Example(const std::tuple<T...>& t) : Example(std::apply([](auto&... v) { return Example({v...}); }, t)) {}
  template <class A, class B>
  requires(std::is_convertible_v<const A&, ExampleValue>&& std::is_convertible_v<const B&, ExampleValue>)
      Example(const std::pair<A, B>& p)
      : Example({ExampleValue(p.first), ExampleValue(p.second)}) {}
  // A list of components: Example(x, 3).
  template <class A, class B, class... C>
  requires(std::is_convertible_v<const A&, ExampleValue>&& std::is_convertible_v<const B&, ExampleValue> &&
           (... && std::is_convertible_v<const C&, ExampleValue>)) Example(const A& a, const B& b, const C&... more)
      : Example({ExampleValue(a), ExampleValue(b), ExampleValue(more)...}) {}
  // The components of lists of values in other types: std::array{a, b}, and a struct of up to four members.
  template <class T, std::size_t N>
  Example(const std::array<T, N>& a) requires std::is_convertible_v<const T&, ExampleValue>
      : values(std::apply([](auto&... v) { return Example({v...}); }, a).values) {}
  // A map of the standard library from names.
  template <internal::NamedValues M> Example(const M& map) : Example(internal::list_of(map)) {}
  template <internal::StructExample T> Example(const T& fields) : Example(internal::tuple_of_fields(fields)) {}
  Array operator[](std::string_view name) const;  // of a map; the KeyError lists the names
  // A component by its position, from the end if it is negative. IndexError if there is none.
  template <std::integral I> const Array& operator[](I i) const { return component(static_cast<std::int64_t>(i)); }
  // All components. ValueError if there are not N.
  template <std::size_t N> std::array<Array, N> unpack() const {
    check_number(N);
    std::array<Array, N> all;
    for (std::size_t i = 0; i < N; ++i) all[i] = values[i];
    return all;
  }
  // All components in a tuple, so that a function of a std::tuple<nd::Array, int> takes an example. ValueError for
  // another number of components.
  template <class... T>
  operator std::tuple<T...>() const requires(sizeof...(T) > 1 && (... && internal::TupleComponent<T>)) {
    check_number(sizeof...(T));
    return as_tuple<T...>(std::index_sequence_for<T...>());
  }
  bool is_map() const noexcept { return !names.empty(); }

 private:
  template <class... T, std::size_t... I> std::tuple<T...> as_tuple(std::index_sequence<I...>) const {
    return std::tuple<T...>(as<T>(values[I])...);
  }
  template <class T> static T as(const Array& a) {
    if constexpr (std::is_arithmetic_v<T>) return internal::number_of(a).template to<T>();
    else return T(a);
  }
  const Array& component(std::int64_t i) const;
  void check_number(std::size_t n) const;
};
using Examples = std::vector<Example>;
namespace internal {
CATENA_EXPORT const Array& component_of_two(const Example& e, std::size_t i);
}
template <std::size_t I> Array get(const Example& e) { return internal::component_of_two(e, I); }

// The interface of data sets. The parameters of iterators, evaluators and the functions below (AnyDataset) take an
// object of a class derived from it, of a class derived from Dataset (below), or an array, whose examples are its
// elements along the first axis.
//
// Thread safety: if a loading iterator uses the dataset, get_example must be callable from several threads.
class CATENA_EXPORT DatasetMixin {
 public:
  virtual ~DatasetMixin();
  // A class overrides both. Compilers show these lines where it does not.
  virtual std::int64_t size() const = 0;  // other types and names: derive from training::Dataset, without override
  virtual Example get_example(std::int64_t i) const = 0;  // 0 <= i < size()
  // Returns the stacked examples of a batch, for datasets with a faster way than loading one by one; empty if not
  // supported.
  virtual std::optional<Example> get_batch(std::span<const std::int64_t> indices) const;

  // Range-checked: the IndexError names the index and the size. Negative indices count from the end.
  template <class I> Example operator[](I i) const requires catena::is_index<I> {
    return at(static_cast<std::int64_t>(i));
  }
  // Returns the examples for a list of indices, d[{0, -1}], a vector, or a one-dimensional integer array (else
  // TypeError).
  Examples operator[](std::initializer_list<catena::Integer> indices) const;
  Examples operator[](const std::vector<std::int64_t>& indices) const;
  Examples operator[](const Array& indices) const;
  template <std::same_as<catena::Slice> S> Examples operator[](const S& range) const {  // d[nd::Slice(0, 3)]
    return slice(range.start, range.stop, range.step.value_or(1));
  }
  Examples slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop, std::int64_t step = 1) const;

 private:
  Example at(std::int64_t i) const;
};

// The base of a data set in PyTorch's form. It has no virtual functions, so that a class writes, without `override`,
// size() or len() of any integer type, and operator[](i), get(i), get_item(i) or get_example(i) of any integer: a
// tuple, a pair, a map or a struct of arrays, variables and numbers, an array, or an Example. (__len__ and __getitem__,
// too.)
//
//   struct Squares : training::Dataset {
//     std::size_t size() const { return 10; }
//     auto operator[](std::size_t i) const { return std::tuple(nd::full({1}, float(i)), i * i); }
//   };
//   training::DataLoader loader(Squares(), {.batch_size = 5});
//
// As for other data sets, an lvalue is borrowed and must outlive what reads it.
struct Dataset {};

// Datasets are shared: iterators, subsets and splits refer to the same object. A DatasetPtr has the members of a
// pointer, and also the size and the examples: train.size(), train[0].
class DatasetPtr : public catena::Shared<const DatasetMixin> {
 public:
  using Shared::Shared;
  DatasetPtr() noexcept = default;
  DatasetPtr(catena::Shared<const DatasetMixin> p) noexcept : Shared(std::move(p)) {}
  std::int64_t size() const { return (*this)->size(); }
  Example get_example(std::int64_t i) const { return (*this)->get_example(i); }
  template <class I> decltype(auto) operator[](const I& i) const { return (**this)[i]; }
};

namespace internal {
// The size and the examples of a class of a program, by any of their usual names.
template <class T> auto number_of_examples(T& x) {
  if constexpr (requires { x.size(); }) return x.size();
  else if constexpr (requires { x.len(); }) return x.len();
  else if constexpr (requires { x.__len__(); }) return x.__len__();
}
template <class T, class I> decltype(auto) example_at(T& x, I i) {
  if constexpr (requires { Example(x[i]); }) return x[i];
  else if constexpr (requires { Example(x.get(i)); }) return x.get(i);
  else if constexpr (requires { Example(x.get_item(i)); }) return x.get_item(i);
  else if constexpr (requires { Example(x.get_example(i)); }) return x.get_example(i);
  else if constexpr (requires { Example(x.__getitem__(i)); }) return x.__getitem__(i);
}
template <class T>
concept ExampleSequence = requires(T& x) {
  { number_of_examples(x) } -> std::convertible_to<std::int64_t>;
  Example(example_at(x, number_of_examples(x)));
};
template <class T>
concept SizedSequence =
    !std::is_base_of_v<DatasetMixin, T> && !std::is_base_of_v<Dataset, T> && !autograd::ForeignArray<T> &&
    !std::is_same_v<T, Array> && !std::is_convertible_v<const T&, catena::Shared<const DatasetMixin>> && !HasArray<T> &&
    ExampleSequence<T>;
// A class derived from Dataset, or a reference to an object of one.
template <class T>
concept ProgramDataset =
    std::is_base_of_v<Dataset, std::remove_cvref_t<T>> && !std::is_base_of_v<DatasetMixin, std::remove_cvref_t<T>>;
template <class T> class SequenceDataset : public DatasetMixin {
 public:
  explicit SequenceDataset(T sequence) : sequence_(std::move(sequence)) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(number_of_examples(sequence_)); }
  Example get_example(std::int64_t i) const override {
    using Index = decltype(number_of_examples(sequence_));
    return Example(example_at(sequence_, static_cast<Index>(i)));
  }

 private:
  mutable T sequence_;  // a function of the program may lack const
};
// An object that belongs to the program.
template <class T> struct SequenceReference {
  T* sequence;
  auto size() const { return number_of_examples(*sequence); }
  template <class I> decltype(auto) operator[](I i) const { return example_at(*sequence, i); }
};
}  // namespace internal
// Datasets made of arrays and variables, of objects of classes derived from Dataset, and of copies of other objects
// with size() (or len()) and operator[] (or get(i)), such as a std::vector<Example>.
template <> struct CATENA_EXPORT HeldFrom<const DatasetMixin> {
  static DatasetPtr make(const Array& a);
  template <internal::HasArray T> static DatasetPtr make(const T& v) { return make(Array(v.data())); }
  template <internal::SizedSequence T> static DatasetPtr make(const T& sequence) {
    return DatasetPtr(internal::make_held(internal::SequenceDataset<T>(sequence)));
  }
  template <internal::ProgramDataset T> static DatasetPtr take(T&& dataset) {
    static_assert(
        internal::ExampleSequence<std::remove_reference_t<T>>,
        "a class derived from training::Dataset has size() or len(), an integer, and operator[](i) or get(i), "
        "a tuple, a pair, a struct or a map of arrays and numbers");
    if constexpr (std::is_lvalue_reference_v<T>) {
      using Reference = internal::SequenceReference<std::remove_reference_t<T>>;
      return DatasetPtr(internal::make_held(internal::SequenceDataset<Reference>(Reference{&dataset})));
    } else {
      return DatasetPtr(internal::make_held(internal::SequenceDataset<T>(std::move(dataset))));
    }
  }
};
// A dataset argument: an lvalue is borrowed, a temporary is owned, a pointer is shared.
using AnyDataset = Held<const DatasetMixin>;

// An array as a dataset: example i is the view x[i] along the first axis. ValueError for a 0-d array.
class CATENA_EXPORT ArrayDataset : public DatasetMixin {
 public:
  explicit ArrayDataset(Array array);
  std::int64_t size() const override { return array_.shape(0); }
  Example get_example(std::int64_t i) const override;
  std::optional<Example> get_batch(std::span<const std::int64_t> indices) const override;
  const Array& array() const noexcept { return array_; }

 private:
  Array array_;
};

// Several datasets or arrays of equal size (the ValueError names two that differ). Example i is the tuple of their
// examples i; components that are tuples are concatenated. A component whose examples are maps is a TypeError.
class CATENA_EXPORT TupleDataset : public DatasetMixin {
 public:
  explicit TupleDataset(std::vector<Array> arrays);
  explicit TupleDataset(std::initializer_list<Array> arrays) : TupleDataset(std::vector<Array>(arrays)) {}
  explicit TupleDataset(std::vector<DatasetPtr> datasets);
  // Of one array: its elements along the first axis.
  template <class A>
  explicit TupleDataset(const A& a) requires(std::is_same_v<A, Array> || autograd::ForeignArray<A> ||
                                             internal::HasArray<A>)
      : TupleDataset(std::vector<Array>{ExampleValue(a).array()}) {}
  template <class... D>
  explicit TupleDataset(D&&... datasets) requires(sizeof...(D) > 1 && (... && std::convertible_to<D, AnyDataset>))
      : TupleDataset(std::vector<DatasetPtr>{AnyDataset(std::forward<D>(datasets)).shared()...}) {}
  std::int64_t size() const override { return datasets_[0]->size(); }
  Example get_example(std::int64_t i) const override;
  std::optional<Example> get_batch(std::span<const std::int64_t> indices) const override;
  // Returns the components if all of them are arrays, else nothing.
  const std::vector<Array>& arrays() const noexcept { return arrays_; }

 private:
  std::vector<DatasetPtr> datasets_;
  std::vector<Array> arrays_;
};

// Named datasets or arrays of equal size (the ValueError names one that differs). Example i is the map of their
// examples i, which must be single arrays (TypeError). DictDataset({{"image", x}, {"label", t}}).
class CATENA_EXPORT DictDataset : public DatasetMixin {
 public:
  explicit DictDataset(HeldMap<const DatasetMixin> datasets);
  std::int64_t size() const override { return datasets_[0].second->size(); }
  Example get_example(std::int64_t i) const override;
  std::optional<Example> get_batch(std::span<const std::int64_t> indices) const override;

 private:
  HeldMap<const DatasetMixin> datasets_;
};

// The examples of several datasets, one after the other, as one dataset. ValueError without datasets.
//   ConcatenatedDataset(train, more);
class CATENA_EXPORT ConcatenatedDataset : public DatasetMixin {
 public:
  explicit ConcatenatedDataset(std::vector<DatasetPtr> datasets);
  explicit ConcatenatedDataset(std::initializer_list<AnyDataset> datasets);
  template <class... D>
  explicit ConcatenatedDataset(D&&... datasets) requires(sizeof...(D) > 1 &&
                                                         (... && std::convertible_to<D, AnyDataset>))
      : ConcatenatedDataset(std::vector<DatasetPtr>{AnyDataset(std::forward<D>(datasets)).shared()...}) {}
  std::int64_t size() const override { return ends_.back(); }
  Example get_example(std::int64_t i) const override;

 private:
  std::vector<DatasetPtr> datasets_;
  std::vector<std::int64_t> ends_;  // of the indices of each dataset
};

// A dataset of the results of transform(example) for the examples of another dataset:
//   TransformDataset(images, [](training::Example e) { e.values[0] = e.values[0] / 255; return e; })
// The transforms of images (training/transforms.h) change the image of an example:
//   TransformDataset(train, transforms::Compose{transforms::RandomCrop(32, {.padding = 4}), transforms::RandomFlip()})
class CATENA_EXPORT TransformDataset : public DatasetMixin {
 public:
  // TypeError for an empty transform
  TransformDataset(AnyDataset dataset, catena::Function<Example(Example)> transform);
  std::int64_t size() const override { return dataset_->size(); }
  Example get_example(std::int64_t i) const override { return transform_(dataset_->get_example(i)); }

 private:
  AnyDataset dataset_;
  catena::Function<Example(Example)> transform_;
};

// Examples order[start..finish) of a dataset, or start..finish without an order. ValueError if out of range.
class CATENA_EXPORT SubDataset : public DatasetMixin {
 public:
  SubDataset(AnyDataset dataset, std::int64_t start, std::int64_t finish, std::vector<std::int64_t> order = {});
  std::int64_t size() const override { return finish_ - start_; }
  Example get_example(std::int64_t i) const override;
  std::optional<Example> get_batch(std::span<const std::int64_t> indices) const override;

 private:
  std::int64_t source(std::int64_t i) const;
  DatasetPtr dataset_;
  std::int64_t start_, finish_;
  std::vector<std::int64_t> order_;
};

// The two parts of a data set.
using DatasetPair = std::pair<DatasetPtr, DatasetPtr>;
CATENA_EXPORT DatasetPair split_dataset(AnyDataset dataset, std::int64_t split_at,
                                        std::vector<std::int64_t> order = {});
// Splits at random. With a seed (below 2^32, else ValueError), the order is numpy_permutation(n, seed), as in Chainer;
// without one, it is drawn from the thread's default generator.
CATENA_EXPORT DatasetPair split_dataset_random(AnyDataset dataset, std::int64_t first_size,
                                               std::optional<std::uint64_t> seed = {});
struct SplitOptions {
  std::optional<std::uint64_t> seed = {};
  std::optional<autograd::Generator> generator = {};  // PyTorch's option: its seed, in place of `seed`
  operator std::optional<std::uint64_t>() const {
    return generator ? std::optional(generator->seed & 0xffffffff) : seed;
  }
};
template <std::same_as<SplitOptions> S = SplitOptions>  // so that {.seed = 0} means the options
DatasetPair split_dataset_random(AnyDataset dataset, std::int64_t first_size, const S& options) {
  return split_dataset_random(std::move(dataset), first_size, std::optional<std::uint64_t>(options));
}
// Returns n parts of size / n examples each; the remaining examples are not used.
CATENA_EXPORT std::vector<DatasetPtr> split_dataset_n(AnyDataset dataset, int n, std::vector<std::int64_t> order = {});
CATENA_EXPORT std::vector<DatasetPtr> split_dataset_n_random(AnyDataset dataset, int n,
                                                             std::optional<std::uint64_t> seed = {});
template <std::same_as<SplitOptions> S = SplitOptions>
std::vector<DatasetPtr> split_dataset_n_random(AnyDataset dataset, int n, const S& options) {
  return split_dataset_n_random(std::move(dataset), n, std::optional<std::uint64_t>(options));
}
// Returns n_fold (train, test) pairs. The test set of fold i has the positions size * i / n_fold to size * (i + 1) /
// n_fold of the order; the last fold is the first in the result.
CATENA_EXPORT std::vector<DatasetPair> get_cross_validation_datasets(AnyDataset dataset, int n_fold,
                                                                     std::vector<std::int64_t> order = {});
CATENA_EXPORT std::vector<DatasetPair> get_cross_validation_datasets_random(AnyDataset dataset, int n_fold,
                                                                            std::optional<std::uint64_t> seed = {});
template <std::same_as<SplitOptions> S = SplitOptions>
std::vector<DatasetPair> get_cross_validation_datasets_random(AnyDataset dataset, int n_fold, const S& options) {
  return get_cross_validation_datasets_random(std::move(dataset), n_fold, std::optional<std::uint64_t>(options));
}
// Returns a random permutation of 0..n-1 (Fisher-Yates).
CATENA_EXPORT std::vector<std::int64_t> permutation(std::int64_t n, autograd::Generator& g);
// Returns numpy.random.RandomState(seed).permutation(n), with the Mersenne Twister MT19937.
CATENA_EXPORT std::vector<std::int64_t> numpy_permutation(std::int64_t n, std::uint32_t seed);
namespace internal {
// The order of random splits. `who`: for the message.
std::vector<std::int64_t> random_order(const char* who, std::int64_t n, std::optional<std::uint64_t> seed);
}  // namespace internal

// A GPU's number, negative for the CPU; or a device; or none.
struct DeviceId : std::optional<Device> {
  DeviceId(std::nullopt_t = std::nullopt) {}
  // "cpu", "cuda:1", and Chainer's "@numpy" and "@cupy:1"; ValueError for others.
  CATENA_EXPORT DeviceId(const char* name);
  DeviceId(int id) : optional(id < 0 ? Device{} : Device{Device::Kind::cuda, static_cast<std::int16_t>(id)}) {}
  DeviceId(Device device) : optional(device) {}
  DeviceId(const std::optional<Device>& device) : optional(device) {}
};

// Padding of unequal shapes: one value for all components, or one per component (empty: shapes must be equal), by
// position or, for maps, by name: Padding({{"words", 0}, {"label", -1}}). A name that is not given has no padding.
struct Padding {
  std::vector<std::optional<double>> values;
  std::vector<std::string> names;  // of the values; empty: by position
  std::int64_t multiple = 1;
  Padding() = default;
  Padding(double v) : values{v} {}
  Padding(std::vector<std::optional<double>> per_component) : values(std::move(per_component)) {}
  Padding(std::initializer_list<std::pair<std::string, std::optional<double>>> per_name) {
    for (const auto& [name, value] : per_name) {
      names.push_back(name);
      values.push_back(value);
    }
  }
  // Returns a padding that also extends the first axis of padded components to a multiple of n, so that batches have
  // few different shapes: Padding(-1).to_multiple(8).
  Padding to_multiple(std::int64_t n) const {
    Padding result = *this;
    result.multiple = n;
    return result;
  }
};
// Stacks examples along a new first axis, component by component, and moves the result to `device`. Components of maps
// are matched by name, in any order; the result has the names and the order of the first example. Arrays of one kind
// (float16 and float32) are converted to the wider dtype. ValueError for an empty batch, and for an example that
// differs from the first one in its components, its shapes (without padding) or the kind of its dtypes. The message
// names the example by its number in the batch and, if `indices` has it, in the dataset. KeyError for a padding of a
// name that the examples do not have, ValueError for one whose multiple is below 1.
CATENA_EXPORT Example concat_examples(const Examples& batch, DeviceId device = {}, const Padding& padding = {},
                                      std::span<const std::int64_t> indices = {});
CATENA_EXPORT Example to_device(std::optional<Device> device, const Example& x);

// The root folder of cached data sets: that of set_dataset_root, else $CATENA_DATASET_ROOT, else $CHAINER_DATASET_ROOT,
// else ~/.chainer/dataset.
CATENA_EXPORT std::string get_dataset_root();
CATENA_EXPORT void set_dataset_root(const std::string& path);
CATENA_EXPORT std::string get_dataset_directory(const std::string& name, bool create_directory = true);

}  // namespace training

template <> struct std::tuple_size<training::Example> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I> struct std::tuple_element<I, training::Example> { using type = training::Array; };
