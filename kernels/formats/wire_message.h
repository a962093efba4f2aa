// Messages of protocol buffers as structs: a table of field numbers and members reads and writes a struct.
//
//   struct Pair { std::string key; std::vector<std::int64_t> values; };
//   template <> struct catena::wire::Fields<Pair> {
//     static constexpr Field<Pair> list[] = {field<1, &Pair::key>(), field<2, &Pair::values>()};
//   };
//   read_message(pair, WireReader(context, "pair", bytes));
//
// Members may be numbers, std::string, other such structs, and std::vector and std::optional of these. For source files
// only.
#pragma once

#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/wire.h>

namespace catena::wire {

// Reads and writes one field of M. A field whose wire type does not fit the member is skipped as unknown, as in the
// library of protocol buffers.
template <class M> struct Field {
  std::uint32_t number;
  void (*read)(M& message, const WireReader& reader, const WireField& field);
  void (*write)(const M& message, std::uint32_t number, WireWriter& writer);
};
template <class M> struct Fields;  // `list`: the fields of M

// Limit for the entries of one list of a message: an entry may need only two bytes in the file, but much more in
// memory.
template <class M> inline constexpr std::size_t kMaxRepeated = 65536;

template <class M> void read_message(M& message, WireReader reader, std::span<const Field<M>> fields) {
  while (const std::optional<WireField> found = reader.next())
    for (const Field<M>& f : fields)
      if (f.number == found->number) f.read(message, reader, *found);
}
template <class M> void read_message(M& message, const WireReader& reader) {
  read_message<M>(message, reader, std::span<const Field<M>>(Fields<M>::list));
}
// Fields follow each other in the order of the list. Numbers that are 0, empty texts and empty lists are left out.
template <class M> void write_message(const M& message, WireWriter& writer) {
  for (const Field<M>& f : Fields<M>::list) f.write(message, f.number, writer);
}

// ---- members, by their types -----------------------------------------------------------------------
template <class T>
concept Number = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T> struct Repeated : std::false_type {};
template <class T> struct Repeated<std::vector<T>> : std::true_type {};
template <class T>
concept Message = std::is_class_v<T> && !Repeated<T>::value;

template <class T> inline constexpr bool is_varint = std::is_integral_v<T> || std::is_enum_v<T>;
template <class T> constexpr WireType wire_type_of() {
  if (is_varint<T>) return WireType::varint;
  return sizeof(T) == 4 ? WireType::fixed32 : WireType::fixed64;
}
template <class T> T number_of(std::uint64_t value) {
  if constexpr (std::is_same_v<T, bool>) return value != 0;
  else if constexpr (is_varint<T>) return static_cast<T>(value);
  else if constexpr (sizeof(T) == 4) return std::bit_cast<T>(static_cast<std::uint32_t>(value));
  else return std::bit_cast<T>(value);
}

template <Number T> void take(T& member, const WireReader&, const WireField& field) {
  if (field.type == wire_type_of<T>()) member = number_of<T>(field.value);
}
inline void take(std::string& member, const WireReader&, const WireField& field) {
  if (field.type == WireType::bytes)
    member.assign(reinterpret_cast<const char*>(field.bytes.data()), field.bytes.size());
}
// Numbers, one by one or packed.
template <Number T> void take(std::vector<T>& member, const WireReader& reader, const WireField& field) {
  if (field.type == wire_type_of<T>()) {
    member.push_back(number_of<T>(field.value));
  } else if (field.type == WireType::bytes && is_varint<T>) {
    for (WireReader packed(reader, field.bytes); !packed.at_end();) member.push_back(number_of<T>(packed.varint()));
  } else if (field.type == WireType::bytes) {
    check<ValueError>(field.bytes.size() % sizeof(T) == 0, reader.context(), "is no ", reader.kind(), ": ",
                      field.bytes.size(), " bytes before byte ", reader.position(), " are no numbers of ", sizeof(T),
                      " bytes");
    const std::size_t before = member.size();
    member.resize(before + field.bytes.size() / sizeof(T));
    if (!field.bytes.empty()) std::memcpy(member.data() + before, field.bytes.data(), field.bytes.size());
  }
}
template <Message M> void take(M& message, const WireReader& reader, const WireField& field);
template <class T> void take(std::optional<T>& member, const WireReader& reader, const WireField& field) {
  if constexpr (Number<T>) {
    if (field.type == wire_type_of<T>()) member = number_of<T>(field.value);
  } else if (field.type == WireType::bytes) {
    take(member ? *member : member.emplace(), reader, field);
  }
}
template <class M>
requires std::is_class_v<M>
void take(std::vector<M>& members, const WireReader& reader, const WireField& field) {
  if (field.type != WireType::bytes) return;
  check<ValueError>(members.size() < kMaxRepeated<M>, reader.context(), "the message before byte ", reader.position(),
                    " has more than ", kMaxRepeated<M>, " entries of one kind");
  take(members.emplace_back(), reader, field);
}
// A message that occurs twice is merged: numbers of the second replace those of the first, lists are continued.
template <Message M> void take(M& message, const WireReader& reader, const WireField& field) {
  if (field.type == WireType::bytes) read_message(message, WireReader(reader, field.bytes));
}

template <Number T> void put_always(const T& value, std::uint32_t number, WireWriter& writer) {
  if constexpr (is_varint<T>) writer.varint(number, static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
  else if constexpr (sizeof(T) == 4) writer.fixed32(number, value);
  else writer.fixed64(number, value);
}
inline void put_always(const std::string& value, std::uint32_t number, WireWriter& writer) {
  writer.bytes(number, value);
}
template <Message M> void put_always(const M& message, std::uint32_t number, WireWriter& writer) {
  const std::size_t begun = writer.begin(number);
  write_message(message, writer);
  writer.end(begun);
}
template <Number T> void put(const T& value, std::uint32_t number, WireWriter& writer) {
  if (value != T{}) put_always(value, number, writer);
}
inline void put(const std::string& value, std::uint32_t number, WireWriter& writer) {
  if (!value.empty()) put_always(value, number, writer);
}
template <Message M> void put(const M& message, std::uint32_t number, WireWriter& writer) {
  put_always(message, number, writer);
}
template <class T> void put(const std::optional<T>& value, std::uint32_t number, WireWriter& writer) {
  if (value) put_always(*value, number, writer);
}
template <class T> void put(const std::vector<T>& values, std::uint32_t number, WireWriter& writer) {
  if constexpr (Number<T>) {
    if (values.empty()) return;
    const std::size_t begun = writer.begin(number);
    for (const T value : values) {
      if constexpr (is_varint<T>) writer.packed_varint(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
      else writer.packed(value);
    }
    writer.end(begun);
  } else {
    for (const T& value : values) put_always(value, number, writer);
  }
}

template <class M, class T> M class_of(T M::*);
template <std::uint32_t number, auto Member> constexpr Field<decltype(class_of(Member))> field() {
  using M = decltype(class_of(Member));
  return {number, [](M& message, const WireReader& reader, const WireField& f) { take(message.*Member, reader, f); },
          [](const M& message, std::uint32_t n, WireWriter& writer) { put(message.*Member, n, writer); }};
}

}  // namespace catena::wire
