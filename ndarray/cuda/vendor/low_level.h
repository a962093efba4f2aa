// Functions of a library as callable objects: the status becomes an exception, and a result that the function writes
// through its last parameter is returned. Their types come from the library's table of entry points.
//
// Library is a class with
//   static const Table& table();                                // opens the library, and makes a device current
//   static void check(Status status, const char* call);         // throws unless it is success
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace nd::cuda::low_level {

template <class Library, auto Field> class Call;
template <class Library, class Table, class Status, class... A, Status (*Table::*Field)(A...)>
class Call<Library, Field> {
 public:
  constexpr explicit Call(const char* name) : name_(name) {}
  void operator()(A... arguments) const { Library::check((Library::table().*Field)(arguments...), name_); }

 private:
  const char* name_;
};

namespace internal {
template <class Library, auto Field, class Arguments, class Indices> class ValueCall;
template <class Library, auto Field, class... A, std::size_t... I>
class ValueCall<Library, Field, std::tuple<A...>, std::index_sequence<I...>> {
  using Result = std::remove_pointer_t<std::tuple_element_t<sizeof...(I), std::tuple<A...>>>;

 public:
  constexpr explicit ValueCall(const char* name) : name_(name) {}
  Result operator()(std::tuple_element_t<I, std::tuple<A...>>... arguments) const {
    Result result{};
    Library::check((Library::table().*Field)(arguments..., &result), name_);
    return result;
  }

 private:
  const char* name_;
};
template <auto Field> struct arguments_of;
template <class Table, class Status, class... A, Status (*Table::*Field)(A...)> struct arguments_of<Field> {
  using type = std::tuple<A...>;
};
}  // namespace internal

template <class Library, auto Field>
using ValueCall =
    internal::ValueCall<Library, Field, typename internal::arguments_of<Field>::type,
                        std::make_index_sequence<std::tuple_size_v<typename internal::arguments_of<Field>::type> - 1>>;

}  // namespace nd::cuda::low_level
