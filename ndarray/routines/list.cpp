#include <catena/ndarray/routines/list.h>

#include <ostream>

#include <catena/ndarray/engine/out_of_memory.h>

namespace nd {

using catena::check;

const Scalar& List::number() const {
  check<ValueError>(is_number_, "list", "a list of ", items_.size(), " items is no number");
  return number_;
}

const std::vector<List>& List::items() const {
  check<ValueError>(!is_number_, "list", "the number ", number_, " is no list");
  return items_;
}

const List& List::operator[](std::size_t i) const {
  check<IndexError>(i < items().size(), "list", "a list of ", items_.size(), " items has no item ", i);
  return items_[i];
}

bool operator==(const List& a, const List& b) {
  return a.is_number_ == b.is_number_ && (a.is_number_ ? a.number_ == b.number_ : a.items_ == b.items_);
}

std::ostream& operator<<(std::ostream& out, const List& list) {
  if (list.is_number_) return out << list.number_;
  out << '[';
  const char* separator = "";
  for (const List& item : list.items_) out << std::exchange(separator, ", ") << item;
  return out << ']';
}

namespace {

// Returns the part of an array in C order that begins with element `next` and has the axes from `axis` on.
template <class E> List nested(const Shape& shape, int axis, const std::vector<E>& values, std::size_t& next) {
  if (axis == shape.size()) return Scalar(E(values[next++]));
  std::vector<List> items;
  items.reserve(static_cast<std::size_t>(shape[axis]));
  for (std::int64_t i = 0; i < shape[axis]; ++i) items.push_back(nested(shape, axis + 1, values, next));
  return items;
}

}  // namespace

List Array::tolist() const try {
  internal::check_host_room("tolist", static_cast<std::size_t>(size()), sizeof(List) + itemsize());
  return visit_dtype(dtype(), [this](auto tag) {
    std::size_t next = 0;
    return nested(shape(), 0, to_vector<typename decltype(tag)::type>(), next);
  });
} catch (...) {
  internal::rethrow_out_of_memory("tolist");
}

}  // namespace nd
