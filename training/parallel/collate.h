// The sources and results of a DataLoader: functions that make batches (collate_fn), data sets whose elements are no
// examples, and the batches. Internal to DataLoader, except for Collate and LoadedBatch.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/training/dataset.h>

namespace training {

namespace internal {
// The class of the only argument of a function, without reference and const.
template <class F> struct ArgumentOf {};
template <class R, class A> struct ArgumentOf<R (*)(A)> { using type = std::remove_cvref_t<A>; };
template <class C, class R, class A> struct ArgumentOf<R (C::*)(A)> { using type = std::remove_cvref_t<A>; };
template <class C, class R, class A> struct ArgumentOf<R (C::*)(A) const> { using type = std::remove_cvref_t<A>; };
template <class C, class R, class A> struct ArgumentOf<R (C::*)(A) noexcept> { using type = std::remove_cvref_t<A>; };
template <class C, class R, class A> struct ArgumentOf<R (C::*)(A) const noexcept> {
  using type = std::remove_cvref_t<A>;
};
template <class F>
requires requires { &F::operator(); }
struct ArgumentOf<F> : ArgumentOf<decltype(&F::operator())> {};

template <class L> struct ElementOf {};
template <class T> struct ElementOf<std::vector<T>> { using type = T; };
// T of a function of a std::vector<T>.
template <class F> using ElementOfArgument = typename ElementOf<typename ArgumentOf<F>::type>::type;
template <class F>
concept FunctionOfElements = requires {
  typename ElementOfArgument<F>;
}
&&!std::same_as<ElementOfArgument<F>, Example> && std::is_invocable_v<F&, const std::vector<ElementOfArgument<F>>&>;

// A class of which an object can be made of an example.
template <class T> struct IsPair : std::false_type {};
template <class A, class B>
struct IsPair<std::pair<A, B>> : std::bool_constant<TupleComponent<A> && TupleComponent<B>> {};
template <class T>
concept MadeOfExample = TupleComponent<T> || IsPair<T>::value || std::is_convertible_v<const Example&, T>;
// The component of an example that has one. TypeError for another number of them.
CATENA_EXPORT const Array& only_component(const Example& e);
template <class T> T element_of(const Example& e) {
  if constexpr (std::same_as<T, autograd::Variable>) {
    return autograd::as_variable(only_component(e));
  } else if constexpr (IsPair<T>::value) {
    const auto [first, second] = std::tuple<typename T::first_type, typename T::second_type>(e);
    return T(first, second);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return number_of(only_component(e)).template to<T>();
  } else if constexpr (std::is_convertible_v<const Example&, T>) {
    return e;
  } else {
    return T(only_component(e));
  }
}
}  // namespace internal

// A function that makes a batch of a list: of examples, or of elements as the data set has them, which are Variables,
// arrays, numbers, pairs and tuples of them, or objects of the element class of a data set of a program.
//   [](const training::Examples& examples) { ... }
//   [](const std::vector<autograd::Variable>& batch) { return nn::utils::rnn::pad_sequence(batch); }
class CATENA_EXPORT Collate {
 public:
  Collate() = default;
  template <class F>
  requires(internal::FunctionOfElements<F>) Collate(F f) : type_(&typeid(internal::ElementOfArgument<F>)) {
    using T = internal::ElementOfArgument<F>;
    const auto shared = catena::Shared<F>::make(std::move(f));
    of_elements_ = [shared](const void* list) { return Example((*shared)(*static_cast<const std::vector<T>*>(list))); };
    if constexpr (internal::MadeOfExample<T>)
      of_examples_ = [shared](const Examples& examples) {
        std::vector<T> list;
        for (const Example& e : examples) list.push_back(internal::element_of<T>(e));
        return Example((*shared)(std::as_const(list)));
      };
  }
  template <class F>
  requires(!std::same_as<F, Collate> && !internal::FunctionOfElements<F> &&
           std::is_invocable_r_v<Example, F&, const Examples&>) Collate(F f)
      : of_examples_(std::move(f)) {}
  explicit operator bool() const noexcept { return bool(of_examples_) || bool(of_elements_); }
  // TypeError for a function of elements that cannot be made of examples.
  Example operator()(const Examples& examples) const;
  // Whether it is a function of a std::vector of this class.
  bool takes(const std::type_info& type) const noexcept { return type_ != nullptr && *type_ == type; }
  template <class T> Example of_elements(const std::vector<T>& list) const { return of_elements_(&list); }

 private:
  const std::type_info* type_ = nullptr;
  catena::Function<Example(const void* list)> of_elements_;
  catena::Function<Example(const Examples&)> of_examples_;
};

// A batch of a DataLoader: an example, which is also a variable if it has one array.
struct CATENA_EXPORT LoadedBatch : Example, autograd::Variable {
  LoadedBatch() = default;
  explicit LoadedBatch(Example e);
  using Example::operator[];
  using Example::names;
  using Example::unpack;
  using Example::values;
};

namespace internal {
template <class T> decltype(auto) item_at(T& x, std::int64_t i) {
  using Index = decltype(number_of_examples(x));
  if constexpr (requires { x[static_cast<Index>(i)]; }) return x[static_cast<Index>(i)];
  else if constexpr (requires { x.get(static_cast<Index>(i)); }) return x.get(static_cast<Index>(i));
  else if constexpr (requires { x.get_item(static_cast<Index>(i)); }) return x.get_item(static_cast<Index>(i));
  else if constexpr (requires { x.get_example(static_cast<Index>(i)); }) return x.get_example(static_cast<Index>(i));
  else if constexpr (requires { x.__getitem__(static_cast<Index>(i)); }) return x.__getitem__(static_cast<Index>(i));
}
template <class T>
concept IsDatasetArgument = std::is_convertible_v<T, AnyDataset>;
// A class of a program that has a size and elements of any class.
template <class T>
concept ItemSequence =
    !std::is_base_of_v<DatasetMixin, T> && !autograd::ForeignArray<T> && !std::is_same_v<T, Array> &&
    !std::is_convertible_v<const T&, catena::Shared<const DatasetMixin>> && !HasArray<T> && requires(T & x) {
  { number_of_examples(x) } -> std::convertible_to<std::int64_t>;
  requires !std::is_void_v<decltype(item_at(x, 0))>;
};

// The first argument of a DataLoader.
class CATENA_EXPORT LoaderDataset {
 public:
  template <class D>
  requires(!std::is_same_v<std::remove_cvref_t<D>, LoaderDataset> &&
           (IsDatasetArgument<D> || ItemSequence<std::remove_cvref_t<D>>)) LoaderDataset(D&& d) {
    using S = std::remove_cvref_t<D>;
    if constexpr (ItemSequence<S>) {
      // An object of a class derived from Dataset is borrowed, others are copied.
      if constexpr (ProgramDataset<S> && std::is_lvalue_reference_v<D>) {
        using Given = std::remove_reference_t<D>;
        static_assert(ItemSequence<Given>, "a data set that is const needs const functions for its size and elements");
        read(catena::Shared<Given>::borrowed(&d));
      } else {
        read(make_held(S(std::forward<D>(d))));
      }
    } else {
      dataset = AnyDataset(std::forward<D>(d)).shared();
    }
  }

  DatasetPtr dataset;  // of the examples; `indices` if the elements are no examples
  DatasetPtr indices;  // null if there are no elements of a class of their own
  bool has_examples() const noexcept { return !(dataset == indices); }
  const std::type_info* type = nullptr;  // of the elements
  // Calls a function of elements for the elements of these indices.
  catena::Function<Example(const Collate& collate, const Examples& indices)> collate_elements;

 private:
  template <class S> struct Items {
    catena::Shared<S> sequence;
    auto size() const { return number_of_examples(*sequence); }
    decltype(auto) operator[](std::int64_t i) const { return item_at(*sequence, i); }
  };
  template <class S> void read(catena::Shared<S> sequence) {
    using T = std::remove_cvref_t<decltype(item_at(*sequence, 0))>;
    const Items<S> items{std::move(sequence)};
    indices = indices_of([items] { return static_cast<std::int64_t>(items.size()); });
    if constexpr (std::is_constructible_v<Example, T>) dataset = make_held(SequenceDataset<Items<S>>(items));
    else dataset = indices;
    type = &typeid(T);
    collate_elements = [items](const Collate& collate, const Examples& batch) {
      std::vector<T> list;
      for (const Example& i : batch) list.push_back(items[number_of(i[0]).template to<std::int64_t>()]);
      return collate.of_elements(list);
    };
  }
  static DatasetPtr indices_of(catena::Function<std::int64_t()> size);
};
}  // namespace internal

}  // namespace training

template <> struct std::tuple_size<training::LoadedBatch> : std::tuple_size<training::Example> {};
template <std::size_t I>
struct std::tuple_element<I, training::LoadedBatch> : std::tuple_element<I, training::Example> {};
