#include <catena/training/dataset.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <random>

#include <catena/autograd/array_backend.h>
#include <catena/kernels/base/device_name.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/cache.h>
#include <catena/training/draws.h>

namespace training {

using autograd::Shape;
using catena::check;
using catena::IndexError;
using catena::TypeError;
using catena::ValueError;

const Array& Example::component(std::int64_t i) const {
  const auto n = static_cast<std::int64_t>(values.size());
  check<IndexError>(i >= -n && i < n, "Example", "the index ", i, " is out of range for ", n, " components");
  return values[static_cast<std::size_t>(i < 0 ? i + n : i)];
}
void Example::check_number(std::size_t n) const {
  check<ValueError>(values.size() == n, "Example", "there are ", values.size(), " components, not ", n);
}

DatasetMixin::~DatasetMixin() = default;
std::optional<Example> DatasetMixin::get_batch(std::span<const std::int64_t>) const { return {}; }

Example DatasetMixin::at(std::int64_t i) const {
  const std::int64_t n = size();
  check<IndexError>(i >= -n && i < n, "Dataset", "the index ", i, " is out of range for ", n, " examples");
  return get_example(i < 0 ? i + n : i);
}

Examples DatasetMixin::operator[](const std::vector<std::int64_t>& indices) const {
  Examples result;
  for (const std::int64_t i : indices) result.push_back(at(i));
  return result;
}

Examples DatasetMixin::operator[](std::initializer_list<catena::Integer> indices) const {
  return (*this)[std::vector<std::int64_t>(indices.begin(), indices.end())];
}

Examples DatasetMixin::operator[](const Array& indices) const {
  check<TypeError>(bool(indices) && indices.ndim() == 1 && catena::is_integer(indices.dtype()), "Dataset",
                   "an index array needs one dimension and integers");
  return (*this)[autograd::to_vector<std::int64_t>(indices)];
}

Examples DatasetMixin::slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                             std::int64_t step) const {
  const catena::SliceRange range = catena::resolve_slice("Dataset.slice", catena::Slice(start, stop, step), size());
  Examples result;
  for (std::int64_t i = 0; i < range.length; ++i) result.push_back(get_example(range.start + i * range.step));
  return result;
}

DatasetPtr HeldFrom<const DatasetMixin>::make(const Array& a) { return catena::Shared<ArrayDataset>::make(a); }

ArrayDataset::ArrayDataset(Array array) : array_(std::move(array)) {
  check<TypeError>(bool(array_), "ArrayDataset", "the array is null");
  check<ValueError>(array_.ndim() >= 1, "ArrayDataset", "a 0-d array has no examples");
}

Example ArrayDataset::get_example(std::int64_t i) const {
  Shape shape = array_.shape();
  autograd::Strides strides = array_.strides();
  shape.erase(0);
  const std::int64_t offset = i * strides[0];
  strides.erase(0);
  return array_.backend().view(array_, shape, strides, offset);
}

std::optional<Example> ArrayDataset::get_batch(std::span<const std::int64_t> indices) const {
  const Array index = array_.backend().from_host(indices.data(), {std::int64_t(indices.size())}, autograd::Dtype::int64,
                                                 array_.device());
  return autograd::take(array_, index, 0);
}

namespace {

std::vector<DatasetPtr> as_datasets(const std::vector<Array>& arrays) {
  std::vector<DatasetPtr> datasets;
  for (const Array& a : arrays) datasets.push_back(catena::Shared<ArrayDataset>::make(a));
  return datasets;
}

// Returns the values of component k of a tuple.
std::vector<Array> tuple_values(Example e, std::size_t k) {
  check<TypeError>(!e.is_map(), "TupleDataset", "the examples of component ", k,
                   " are maps, which have no place in a tuple");
  return std::move(e.values);
}

// Returns the value of a component of a map.
Array single_value(const Example& e, const std::string& key) {
  check<TypeError>(!e.is_map() && e.values.size() == 1, "DictDataset", "an example of ", key, " has ", e.values.size(),
                   e.is_map() ? " named values" : " values", "; a single array is needed");
  return e.values[0];
}

}  // namespace

TupleDataset::TupleDataset(std::vector<Array> arrays) : TupleDataset(as_datasets(arrays)) {}

TupleDataset::TupleDataset(std::vector<DatasetPtr> datasets) : datasets_(std::move(datasets)) {
  check<ValueError>(!datasets_.empty(), "TupleDataset", "there are no components");
  for (std::size_t k = 0; k < datasets_.size(); ++k) {
    check<TypeError>(bool(datasets_[k]), "TupleDataset", "component ", k, " is a null pointer");
    check<ValueError>(datasets_[k]->size() == datasets_[0]->size(), "TupleDataset", "the components 0 and ", k,
                      " have ", datasets_[0]->size(), " and ", datasets_[k]->size(), " examples");
    if (const auto* array = dynamic_cast<const ArrayDataset*>(datasets_[k].get())) arrays_.push_back(array->array());
  }
  if (arrays_.size() < datasets_.size()) arrays_.clear();
}

Example TupleDataset::get_example(std::int64_t i) const {
  Example example;
  for (std::size_t k = 0; k < datasets_.size(); ++k)
    for (Array& value : tuple_values(datasets_[k]->get_example(i), k)) example.values.push_back(std::move(value));
  return example;
}

std::optional<Example> TupleDataset::get_batch(std::span<const std::int64_t> indices) const {
  Example batch;
  for (std::size_t k = 0; k < datasets_.size(); ++k) {
    std::optional<Example> part = datasets_[k]->get_batch(indices);
    if (!part) return {};
    for (Array& value : tuple_values(std::move(*part), k)) batch.values.push_back(std::move(value));
  }
  return batch;
}

DictDataset::DictDataset(HeldMap<const DatasetMixin> datasets) : datasets_(std::move(datasets)) {
  check<ValueError>(!datasets_.empty(), "DictDataset", "there are no components");
  const auto& [first, of_first] = datasets_[0];
  for (const auto& [key, dataset] : datasets_)
    check<ValueError>(dataset->size() == of_first->size(), "DictDataset", key, " has ", dataset->size(), " examples, ",
                      first, " has ", of_first->size());
}

Example DictDataset::get_example(std::int64_t i) const {
  Example example;
  for (const auto& [key, dataset] : datasets_) {
    example.names.push_back(key);
    example.values.push_back(single_value(dataset->get_example(i), key));
  }
  return example;
}

std::optional<Example> DictDataset::get_batch(std::span<const std::int64_t> indices) const {
  Example batch;
  for (const auto& [key, dataset] : datasets_) {
    const std::optional<Example> part = dataset->get_batch(indices);
    if (!part) return {};
    batch.names.push_back(key);
    batch.values.push_back(single_value(*part, key));
  }
  return batch;
}

namespace {
std::vector<DatasetPtr> shared_of(std::initializer_list<AnyDataset> datasets) {
  std::vector<DatasetPtr> all;
  for (const AnyDataset& d : datasets) all.push_back(d.shared());
  return all;
}
}  // namespace

ConcatenatedDataset::ConcatenatedDataset(std::initializer_list<AnyDataset> datasets)
    : ConcatenatedDataset(shared_of(datasets)) {}
ConcatenatedDataset::ConcatenatedDataset(std::vector<DatasetPtr> datasets) : datasets_(std::move(datasets)) {
  check<ValueError>(!datasets_.empty(), "ConcatenatedDataset", "there are no datasets");
  std::int64_t size = 0;
  for (std::size_t k = 0; k < datasets_.size(); ++k) {
    check<TypeError>(bool(datasets_[k]), "ConcatenatedDataset", "dataset ", k, " is a null pointer");
    ends_.push_back(size += datasets_[k]->size());
  }
}

Example ConcatenatedDataset::get_example(std::int64_t i) const {
  const auto k = std::size_t(std::upper_bound(ends_.begin(), ends_.end(), i) - ends_.begin());
  return datasets_[k]->get_example(k == 0 ? i : i - ends_[k - 1]);
}

TransformDataset::TransformDataset(AnyDataset dataset, catena::Function<Example(Example)> transform)
    : dataset_(std::move(dataset)), transform_(std::move(transform)) {
  check<TypeError>(bool(transform_), "TransformDataset", "the transform is not callable");
}

SubDataset::SubDataset(AnyDataset dataset, std::int64_t start, std::int64_t finish, std::vector<std::int64_t> order)
    : dataset_(dataset.shared()), start_(start), finish_(finish), order_(std::move(order)) {
  const std::int64_t n = dataset_->size();
  check<ValueError>(start >= 0 && start <= finish && finish <= n, "SubDataset", "the range ", start, "..", finish,
                    " does not lie within ", n, " examples");
  check<ValueError>(order_.empty() || std::int64_t(order_.size()) == n, "SubDataset", "an order of ", order_.size(),
                    " indices does not cover ", n, " examples");
  for (std::int64_t i : order_)
    check<ValueError>(i >= 0 && i < n, "SubDataset", "the order holds the index ", i, ", but there are ", n,
                      " examples");
}

std::int64_t SubDataset::source(std::int64_t i) const {
  return order_.empty() ? start_ + i : order_[static_cast<std::size_t>(start_ + i)];
}
Example SubDataset::get_example(std::int64_t i) const { return dataset_->get_example(source(i)); }

std::optional<Example> SubDataset::get_batch(std::span<const std::int64_t> indices) const {
  std::vector<std::int64_t> sources;
  for (std::int64_t i : indices) sources.push_back(source(i));
  return dataset_->get_batch(sources);
}

std::vector<std::int64_t> permutation(std::int64_t n, autograd::Generator& g) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t(0));
  for (std::int64_t i = n - 1; i > 0; --i) {
    const std::int64_t j = internal::integer(g, 0, i);
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]);
  }
  return order;
}

catena::Scalar internal::number_of(const Array& component) {
  check<ValueError>(component.size() == 1, "Example", "a component of shape ", component.shape(), " is no number");
  return autograd::item(component);
}

DeviceId::DeviceId(const char* name)
    : optional(catena::device_from_name("device", name, autograd::default_backend().default_device())) {}

// Fisher-Yates from the end; draws are uniform by the rejection of masked 32-bit numbers, as NumPy's random_interval.
std::vector<std::int64_t> numpy_permutation(std::int64_t n, std::uint32_t seed) {
  check<ValueError>(n >= 0 && n <= std::int64_t(std::numeric_limits<std::uint32_t>::max()), "numpy_permutation",
                    "there is no permutation of ", n, " numbers by draws of 32 bits");
  std::mt19937 generator(seed);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t(0));
  for (std::int64_t i = n - 1; i > 0; --i) {
    const auto mask = static_cast<std::uint32_t>(std::bit_ceil(static_cast<std::uint64_t>(i) + 1) - 1);
    std::uint32_t j = 0;
    do j = static_cast<std::uint32_t>(generator()) & mask;
    while (j > i);
    std::swap(order[static_cast<std::size_t>(i)], order[j]);
  }
  return order;
}

std::vector<std::int64_t> internal::random_order(const char* who, std::int64_t n, std::optional<std::uint64_t> seed) {
  if (seed) {
    check<ValueError>(*seed <= std::numeric_limits<std::uint32_t>::max(), who, "the seed ", *seed,
                      " does not fit into 32 bits");
    return numpy_permutation(n, static_cast<std::uint32_t>(*seed));
  }
  autograd::Generator& g = autograd::default_generator();
  autograd::Generator own{g.seed ^ 0x9e3779b97f4a7c15u, g.take(4) << 32};
  return permutation(n, own);
}

DatasetPair split_dataset(AnyDataset dataset, std::int64_t split_at, std::vector<std::int64_t> order) {
  const std::int64_t n = dataset->size();
  check<ValueError>(split_at >= 0 && split_at < n, "split_dataset", "split_at is ", split_at,
                    ", which does not lie within ", n, " examples");
  return {catena::Shared<SubDataset>::make(dataset, 0, split_at, order),
          catena::Shared<SubDataset>::make(dataset, split_at, n, order)};
}

DatasetPair split_dataset_random(AnyDataset dataset, std::int64_t first_size, std::optional<std::uint64_t> seed) {
  std::vector<std::int64_t> order = internal::random_order("split_dataset_random", dataset->size(), seed);
  return split_dataset(std::move(dataset), first_size, std::move(order));
}

std::vector<DatasetPtr> split_dataset_n(AnyDataset dataset, int n, std::vector<std::int64_t> order) {
  check<ValueError>(n > 0 && n <= dataset->size(), "split_dataset_n", dataset->size(),
                    " examples cannot be split into ", n, " parts");
  const std::int64_t size = dataset->size() / n;
  std::vector<DatasetPtr> parts;
  for (int i = 0; i < n; ++i)
    parts.push_back(catena::Shared<SubDataset>::make(dataset, i * size, (i + 1) * size, order));
  return parts;
}

std::vector<DatasetPtr> split_dataset_n_random(AnyDataset dataset, int n, std::optional<std::uint64_t> seed) {
  std::vector<std::int64_t> order = internal::random_order("split_dataset_n_random", dataset->size(), seed);
  return split_dataset_n(std::move(dataset), n, std::move(order));
}

std::vector<DatasetPair> get_cross_validation_datasets(AnyDataset dataset, int n_fold,
                                                       std::vector<std::int64_t> order) {
  const std::int64_t n = dataset->size();
  check<ValueError>(n_fold >= 2 && n_fold <= n, "get_cross_validation_datasets", n, " examples cannot be split into ",
                    n_fold, " folds");
  if (order.empty()) {
    order.resize(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), std::int64_t(0));
  }
  std::vector<DatasetPair> pairs;
  for (std::int64_t fold = n_fold - 1; fold >= 0; --fold) {
    // The test set is the last fold of the order. Rotating it to the front makes the previous fold the last one.
    const std::int64_t test_size = n * (fold + 1) / n_fold - n * fold / n_fold, train_size = n - test_size;
    pairs.push_back(split_dataset(dataset, train_size, order));
    std::rotate(order.begin(), order.begin() + train_size, order.end());
  }
  return pairs;
}

std::vector<DatasetPair> get_cross_validation_datasets_random(AnyDataset dataset, int n_fold,
                                                              std::optional<std::uint64_t> seed) {
  std::vector<std::int64_t> order =
      internal::random_order("get_cross_validation_datasets_random", dataset->size(), seed);
  return get_cross_validation_datasets(std::move(dataset), n_fold, std::move(order));
}

namespace {

// The examples of a batch, with their names for messages.
struct Stack {
  const Examples& batch;
  std::span<const std::int64_t> indices;

  std::string name(std::size_t i) const {
    std::string text = catena::concat("example ", i, " of the batch");
    return i < indices.size() ? catena::concat(text, " (", indices[i], " of the dataset)") : text;
  }
  std::string component(std::size_t k) const {
    return batch[0].is_map() ? "\"" + batch[0].names[k] + '"' : catena::concat("component ", k);
  }
  // Returns the array of example i that belongs to component k of the first example.
  const Array& of(std::size_t i, std::size_t k) const {
    const Example& e = batch[i];
    if (!e.is_map()) return e.values[k];
    const auto at = std::find(e.names.begin(), e.names.end(), batch[0].names[k]);
    return e.values[std::size_t(at - e.names.begin())];
  }
};

std::string keys_of(const Example& e) {
  if (!e.is_map()) return catena::concat(e.values.size(), " components without names");
  std::string text = "the keys ";
  for (const std::string& name : e.names) text += (&name == &e.names.front() ? "" : ", ") + name;
  return text;
}

void check_components(const Stack& stack) {
  const Example& first = stack.batch[0];
  for (std::size_t i = 0; i < stack.batch.size(); ++i) {
    const Example& e = stack.batch[i];
    check<ValueError>(!e.is_map() || e.names.size() == e.values.size(), "concat_examples", stack.name(i), " has ",
                      e.names.size(), " names for ", e.values.size(), " arrays");
    bool same = e.values.size() == first.values.size() && e.is_map() == first.is_map();
    for (const std::string& name : first.names) same = same && std::count(e.names.begin(), e.names.end(), name) == 1;
    check<ValueError>(same, "concat_examples", stack.name(i), " has ", keys_of(e), ", the first one has ",
                      keys_of(first));
    for (std::size_t k = 0; k < e.values.size(); ++k)
      check<ValueError>(bool(stack.of(i, k)), "concat_examples", stack.component(k), " of ", stack.name(i),
                        " is a null array");
  }
}

// Returns the padding value of component k of the batch, or null.
const double* padding_of(const Padding& padding, const Stack& stack, std::size_t k) {
  if (padding.values.empty()) return nullptr;
  std::size_t at = padding.values.size() == 1 ? 0 : k;
  if (!padding.names.empty()) {
    const auto found = std::find(padding.names.begin(), padding.names.end(), stack.batch[0].names[k]);
    if (found == padding.names.end()) return nullptr;
    at = std::size_t(found - padding.names.begin());
  }
  return padding.values[at] ? &*padding.values[at] : nullptr;
}

void check_padding(const Padding& padding, const Example& first) {
  const std::size_t components = first.values.size();
  check<ValueError>(padding.multiple >= 1, "concat_examples", "lengths are padded to a multiple of ", padding.multiple,
                    "; the number is at least 1");
  if (padding.names.empty()) {
    check<ValueError>(padding.values.size() <= 1 || padding.values.size() == components, "concat_examples",
                      padding.values.size(), " padding values do not fit ", components, " components");
    return;
  }
  for (const std::string& name : padding.names)
    check<catena::KeyError>(std::count(first.names.begin(), first.names.end(), name) == 1, "concat_examples",
                            "there is a padding for \"", name, "\", but the examples have ", keys_of(first));
}

// Without padding (null), the shapes must be equal. With it, the first axis of the examples is extended to a multiple
// of `multiple`.
Array stack_component(const Stack& stack, std::size_t k, const double* padding, std::int64_t multiple) {
  const Array& first = stack.of(0, k);
  Shape common = first.shape();
  autograd::Dtype dtype = first.dtype();
  for (std::size_t i = 1; i < stack.batch.size(); ++i) {
    const Array& x = stack.of(i, k);
    const bool fits = padding != nullptr ? x.ndim() == first.ndim() : x.shape() == first.shape();
    check<ValueError>(fits, "concat_examples", stack.component(k), " of ", stack.name(i), " has the shape ", x.shape(),
                      ", of the first one ", first.shape(),
                      x.ndim() == first.ndim() ? "; a padding value is needed" : "");
    check<ValueError>(catena::kind_of(x.dtype()) == catena::kind_of(dtype), "concat_examples", stack.component(k),
                      " of ", stack.name(i), " is ", x.dtype(), ", of the first one ", first.dtype(),
                      "; give all examples one kind of dtype");
    dtype = catena::promote_types(dtype, x.dtype());
    for (int a = 0; a < x.ndim(); ++a) common[a] = std::max(common[a], x.shape(a));
  }
  if (padding != nullptr && common.size() > 0) common[0] = (common[0] + multiple - 1) / multiple * multiple;
  Shape shape = common;
  shape.insert(0, std::int64_t(stack.batch.size()));
  const Array out = first.backend().empty(shape, dtype, first.device());
  if (padding != nullptr) autograd::fill(out, *padding);
  for (std::size_t i = 0; i < stack.batch.size(); ++i) {
    const Array& x = stack.of(i, k);
    autograd::Strides strides = out.strides();
    const std::int64_t offset = std::int64_t(i) * strides[0];
    strides.erase(0);
    autograd::assign(out.backend().view(out, x.shape(), strides, offset), x);  // copies x to the beginning of row i
  }
  return out;
}

}  // namespace

namespace {
template <class T> Array host_number(const T& v, autograd::Dtype dtype) {
  return autograd::from_host(&v, {}, dtype, Device{});
}
}  // namespace

Array ExampleValue::of_bool(bool v) { return host_number(v, autograd::Dtype::bool_); }
Array ExampleValue::of_integer(std::int64_t v) { return host_number(v, autograd::Dtype::int64); }
Array ExampleValue::of_float(float v) { return host_number(v, autograd::Dtype::float32); }
Array ExampleValue::of_double(double v) { return host_number(v, autograd::Dtype::float64); }

const Array& internal::component_of_two(const Example& e, std::size_t i) {
  check<ValueError>(e.values.size() == 2, "Example", "it has ", e.values.size(),
                    " components, but is taken apart into ", "two; its member `values` has them all");
  return e.values[i];
}

Array Example::operator[](std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return values[std::size_t(found - names.begin())];
  std::string known;
  for (const std::string& n : names) known += (known.empty() ? "" : ", ") + n;
  catena::fail<catena::KeyError>("Example", "there is no component ", name, " (there are: ", known, ")");
}

Example::Example(std::initializer_list<ExampleValue> tuple) {
  for (const ExampleValue& value : tuple) values.push_back(value.array());
}

Example::Example(std::vector<std::pair<std::string, ExampleValue>> map) {
  for (auto& [name, value] : map) {
    names.push_back(std::move(name));
    values.push_back(value.array());
  }
}

Example concat_examples(const Examples& batch, DeviceId device, const Padding& padding,
                        std::span<const std::int64_t> indices) {
  check<ValueError>(!batch.empty(), "concat_examples", "the batch is empty; for a batch of an iterator, write ",
                    "concat_examples(batch) or to_variables(batch), because datasets of arrays give it stacked");
  const Stack stack{batch, indices};
  check_components(stack);
  check_padding(padding, batch[0]);
  Example result;
  result.names = batch[0].names;
  for (std::size_t k = 0; k < batch[0].values.size(); ++k)
    result.values.push_back(stack_component(stack, k, padding_of(padding, stack, k), padding.multiple));
  return to_device(device, result);
}

Example to_device(std::optional<Device> device, const Example& x) {
  Example result = x;
  if (device)
    for (Array& a : result.values) a = autograd::to_device(a, *device);
  return result;
}

std::string get_dataset_root() { return catena::cache_root(); }

void set_dataset_root(const std::string& path) { catena::set_cache_root(path); }

std::string get_dataset_directory(const std::string& name, bool create_directory) {
  const std::filesystem::path path = std::filesystem::path(get_dataset_root()) / name;
  std::error_code error;
  if (create_directory) std::filesystem::create_directories(path, error);
  check<catena::IOError>(!error, "get_dataset_directory", "cannot create \"", path.string(), "\": ", error.message());
  return path.string();
}

}  // namespace training
