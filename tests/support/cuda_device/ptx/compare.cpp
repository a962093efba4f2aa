#include <catena/tests/support/cuda_device/ptx/compare.h>

#include <cmath>
#include <iterator>
#include <string>

#include <catena/tests/support/cuda_device/ptx/arithmetic.h>
#include <catena/tests/support/cuda_device/ptx/floating.h>

namespace cuda_device::ptx {
namespace {

// ---- comparisons ----------------------------------------------------------------------------------
// The bits of a relation: true for less, equal, greater, unordered. The names are in the order of the bits; the first
// six apply to integers (lo, ls, hi, hs mean lt, le, gt, ge).
constexpr unsigned kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8;
struct Relation {
  std::string_view name;
  unsigned holds;
};
constexpr Relation kRelations[] = {
    {"eq", kEqual},
    {"ne", kLess | kGreater},
    {"lt", kLess},
    {"le", kLess | kEqual},
    {"gt", kGreater},
    {"ge", kGreater | kEqual},
    {"lo", kLess},
    {"ls", kLess | kEqual},
    {"hi", kGreater},
    {"hs", kGreater | kEqual},
    {"equ", kEqual | kUnordered},
    {"neu", kLess | kGreater | kUnordered},
    {"ltu", kLess | kUnordered},
    {"leu", kLess | kEqual | kUnordered},
    {"gtu", kGreater | kUnordered},
    {"geu", kGreater | kEqual | kUnordered},
    {"num", kLess | kEqual | kGreater},
    {"nan", kUnordered},
};

struct Half {};
struct Brain {};
template <class T> auto value(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, Half>) return unpacked(kFloat16, bits);
  else if constexpr (std::is_same_v<T, Brain>) return unpacked(kBfloat16, bits);
  else return as<T>(bits);
}

// extra: the relation in the low 4 bits, then flags.
constexpr unsigned kFlush = 16, kBoolShift = 5, kNegated = 128;
enum class Bool : unsigned { none, both, either, exclusive };

template <class T> Mask compare(const Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]);
  const unsigned wanted = s.extra & 15;
  Mask result = 0;
  each_lane(lanes, [&](unsigned lane) {
    auto x = value<T>(a[lane]), y = value<T>(b[lane]);
    if constexpr (std::is_same_v<T, float>) {
      if ((s.extra & kFlush) != 0) x = flushed(x), y = flushed(y);
    }
    const unsigned is = x < y ? kLess : (x == y ? kEqual : (x > y ? kGreater : kUnordered));
    result |= Mask((wanted & is) != 0) << lane;
  });
  return result;
}

Mask combine(const Warp& w, const Step& s, Mask compared) {
  const Mask other = w.predicates[s.from[2]] ^ ((s.extra & kNegated) != 0 ? kAllLanes : 0);
  switch (static_cast<Bool>(s.extra >> kBoolShift & 3)) {
    case Bool::none: break;
    case Bool::both: return compared & other;
    case Bool::either: return compared | other;
    case Bool::exclusive: return compared ^ other;
  }
  return compared;
}

template <class T> void setp(Warp& w, const Step& s, Mask lanes) {
  const Mask compared = compare<T>(w, s, lanes);
  const Mask first = combine(w, s, compared), second = s.to[1] >= 0 ? combine(w, s, ~compared) : 0;
  set_predicate(w, s.to[0], lanes, first);
  if (s.to[1] >= 0) set_predicate(w, s.to[1], lanes, second);
}
// Writes the result to a register: all ones or 1.0.
template <class T> void set(Warp& w, const Step& s, Mask lanes) {
  const Mask result = combine(w, s, compare<T>(w, s, lanes));
  std::uint64_t* d = out(w, s.to[0]);
  const std::uint64_t yes = s.bytes == 1 ? bits_of(1.0f) : 0xffffffffu;
  each_lane(lanes, [&](unsigned lane) { d[lane] = (result >> lane & 1) != 0 ? yes : 0; });
}

template <class T> Run form(bool to_register) { return to_register ? &set<T> : &setp<T>; }
Run find_form(std::string_view type, bool to_register) {
  if (type == "f32") return form<float>(to_register);
  if (type == "f64") return form<double>(to_register);
  if (type == "f16") return form<Half>(to_register);
  if (type == "bf16") return form<Brain>(to_register);
  if (type == "s16") return form<std::int16_t>(to_register);
  if (type == "s32") return form<std::int32_t>(to_register);
  if (type == "s64") return form<std::int64_t>(to_register);
  if (type == "u16" || type == "b16") return form<std::uint16_t>(to_register);
  if (type == "u32" || type == "b32") return form<std::uint32_t>(to_register);
  if (type == "u64" || type == "b64") return form<std::uint64_t>(to_register);
  throw Fault{"unknown instruction"};
}

void decode_setp(const Words& words, const std::vector<Operand>& o, Operands& context, Step& s) {
  const bool to_register = words[0] == "set";
  const bool integer = words.back()[0] == 's' || words.back()[0] == 'u' || words.back()[0] == 'b';
  bool known = false;
  for (const Relation& r : kRelations) {
    if (r.name != words.at(1)) continue;
    s.extra = r.holds & (integer && words.back() != "bf16" ? 7u : 15u);
    known = true;
  }
  if (!known) throw Fault{"unknown instruction"};
  if (has(words, "ftz")) s.extra |= kFlush;
  if (o.size() > 3) {
    const Bool op = has(words, "and") ? Bool::both : (has(words, "or") ? Bool::either : Bool::exclusive);
    s.extra |= static_cast<unsigned>(op) << kBoolShift | (o[3].negated ? kNegated : 0);
    s.from[2] = context.predicate(o[3]);
  }
  s.run = find_form(words.back(), to_register);
  s.to[0] = to_register ? context.destination(o.at(0)) : context.predicate(o.at(0));
  s.to[1] = to_register ? -1 : o[0].other;
  if (to_register) s.bytes = words[words.size() - 2] == "f32" ? 1 : 4;
  s.from[0] = context.source(o.at(1));
  s.from[1] = context.source(o.at(2));
}

// ---- selections -----------------------------------------------------------------------------------
void select(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]);
  const Mask which = w.predicates[s.from[2]];
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = (which >> lane & 1) != 0 ? a[lane] : b[lane]; });
}
// Selects by the sign of a third value.
template <class T> void select_by_sign(Warp& w, const Step& s, Mask lanes) {
  const std::uint64_t *a = in(w, s.from[0]), *b = in(w, s.from[1]), *c = in(w, s.from[2]);
  std::uint64_t* d = out(w, s.to[0]);
  each_lane(lanes, [&](unsigned lane) { d[lane] = as<T>(c[lane]) >= 0 ? a[lane] : b[lane]; });
}

// ---- predicates -----------------------------------------------------------------------------------
enum class Logic : unsigned { move, inverse, both, either, exclusive };
void logic(Warp& w, const Step& s, Mask lanes) {
  const Mask a = w.predicates[s.from[0]], b = w.predicates[s.from[1]];
  Mask d = a;
  switch (static_cast<Logic>(s.extra)) {
    case Logic::move: break;
    case Logic::inverse: d = ~a; break;
    case Logic::both: d = a & b; break;
    case Logic::either: d = a | b; break;
    case Logic::exclusive: d = a ^ b; break;
  }
  set_predicate(w, s.to[0], lanes, d);
}

bool decode_logic(const Words& words, const std::vector<Operand>& o, Operands& context, Step& s) {
  constexpr std::string_view names[] = {"mov", "not", "and", "or", "xor"};
  for (unsigned k = 0; k < std::size(names); ++k) {
    if (words[0] != names[k]) continue;
    s.run = &logic;
    s.extra = k;
    s.to[0] = context.predicate(o.at(0));
    for (std::size_t a = 1; a < o.size(); ++a) s.from[a - 1] = context.predicate(o[a]);
    return true;
  }
  return false;
}

}  // namespace

bool decode_compare(const Words& words, const std::vector<Operand>& o, Operands& context, Step& s) {
  const std::string_view op = words[0];
  if (words.back() == "pred") return decode_logic(words, o, context, s);
  if (op == "setp" || op == "set") {
    decode_setp(words, o, context, s);
    return true;
  }
  if (op != "selp" && op != "slct") return false;
  s.to[0] = context.destination(o.at(0));
  s.from[0] = context.source(o.at(1));
  s.from[1] = context.source(o.at(2));
  if (op == "selp") {
    s.run = &select;
    s.from[2] = context.predicate(o.at(3));
  } else {
    s.run = words.back() == "f32" ? &select_by_sign<float> : &select_by_sign<std::int32_t>;
    s.from[2] = context.source(o.at(3));
  }
  return true;
}

}  // namespace cuda_device::ptx
