#include <catena/ndarray/user_kernel/user_kernel.h>

#include <algorithm>
#include <memory>

#include <catena/kernels/device/user_parameters.h>
#include <catena/ndarray/user_kernel/definitions.h>

namespace nd {

std::string_view c_type(Dtype t) noexcept {
  constexpr std::string_view names[catena::kNumDtypes] = {
      "bool",         "signed char", "unsigned char",      "short",   "unsigned short", "int",
      "unsigned int", "long long",   "unsigned long long", "float16", "float",          "double",
      "bfloat16",     "complex64",   "complex128"};
  return names[static_cast<std::size_t>(t)];
}

namespace {

using catena::concat;
using internal::joined;
using Form = BoundParameter::Form;

std::string_view kind_name(const KernelText& text) {
  return text.kind == KernelText::Kind::elementwise ? "elementwise" : "reduction";
}

// Returns a code fragment of the user as statements: it may end in a comment and needs no final semicolon.
std::string statements(const std::string& fragment, std::string_view indent) {
  return fragment.empty() ? std::string() : concat(indent, fragment, "\n", indent, ";\n");
}

// Returns the text of one element as a function body: `return`, `continue` and `break` outside of the text's own loops
// end this element.
std::string element_body(const std::string& text) {
  return concat("    CATENA_USER_ELEMENT {\n    for (bool _once = true; _once; _once = false) {\n",
                statements(text, "    "), "    }\n    }();\n");
}

// Returns the complete content of a text as one string; different texts give different strings.
std::string contents(const KernelText& t) {
  std::string all = concat(int(t.kind), ' ', t.nin, ' ', t.parameters.size(), ' ', t.options.size(), ' ', t.reduce_dims,
                           ' ', t.identity.has_value());
  for (const KernelParameter& p : t.parameters)
    all += joined(concat(p.raw ? "raw " : "", p.type, ' ', p.name, ' ', p.seen_as ? name_of(*p.seen_as) : ""));
  for (const std::string& option : t.options) all += joined(option);
  return all + joined(t.name, t.preamble, t.operation, t.loop_prep, t.after_loop, t.map, t.reduce, t.post_map,
                      t.reduce_type, t.identity.value_or(""));
}

class Generator {
 public:
  Generator(const KernelText& text, const KernelVariant& variant) : text_(text), variant_(variant) {
    made_.entry = concat(text.name, "_", kind_name(text));
    rank_ = std::to_string(variant.rank);
    reduced_rank_ = std::to_string(variant.reduced_rank);
    input_rank_ = std::to_string(variant.reduced_rank + variant.rank);
    width_ = variant.index32 ? "unsigned" : "unsigned long long";
  }

  GeneratedUserKernel elementwise() {
    add_front();
    source() += concat("struct _Parameters {\n  ", range(rank_), " _range;\n", members(), "};\n");
    add_signature(made_.entry, catena::user::kElementwiseBlock);
    if (std::none_of(text_.parameters.begin(), text_.parameters.end(),
                     [](const KernelParameter& p) { return p.name == "n"; }))
      source() += "  const long long n = _p._range.size;\n";
    for_each([&](const KernelParameter& p, const BoundParameter& b) {
      if (b.form == Form::scalar)
        source() += concat("  const ", c_type(b.dtype), " ", p.name, " = _p.", p.name, ".value;\n");
      else if (p.raw) source() += concat("  const ", member_type(p, b), "& ", p.name, " = _p.", p.name, ";\n");
    });
    source() += statements(text_.loop_prep, "  ");
    source() += concat("  for (catena::user::Loop<", rank_, ", ", width_,
                       "> _ind(_p._range); _ind.more(); _ind.next()) {\n    const long long i = _ind.position;\n");
    add_elements("_ind", [](const KernelParameter&) { return true; });
    source() +=
        concat(element_body(text_.operation), store_outputs(), "  }\n", statements(text_.after_loop, "  "), "}\n");
    return std::move(made_);
  }

  GeneratedUserKernel reduction() {
    made_.second = made_.entry + "_second";
    made_.accumulator = made_.entry + "_accumulator";
    add_front();
    source() += concat(
        "typedef ",
        text_.reduce_type.empty() ? std::string(c_type(variant_.parameters[text_.nin].dtype)) : text_.reduce_type,
        " _type_reduce;\n");
    source() += concat("struct _Parameters {\n  catena::user::ReduceWork _work;\n  ", range(rank_), " _kept;\n  ",
                       range(reduced_rank_), " _reduced;\n", members(), "};\n");
    add_body();
    const std::string skeleton =
        concat("catena::user::Reduction<_Reduction, ", rank_, ", ", reduced_rank_, ", ", width_, ", _Parameters>");
    add_signature(made_.entry, catena::user::kReductionBlock);
    source() += concat("  ", skeleton, "::first(_p);\n}\n");
    add_signature(made_.second, catena::user::kReductionBlock);
    source() += concat("  ", skeleton, "::second(_p);\n}\n");
    source() += concat("extern \"C\" {\n__device__ char ", made_.accumulator, "[sizeof(_type_reduce)];\n}\n");
    return std::move(made_);
  }

 private:
  std::string& source() { return made_.source; }

  template <class F> void for_each(F&& f) const {
    for (std::size_t k = 0; k < text_.parameters.size(); ++k) f(text_.parameters[k], variant_.parameters[k]);
  }

  // Adds includes, placeholders and the preamble.
  void add_front() {
    source() += concat("#include <catena/kernels/device/user_", kind_name(text_), ".h>\n");
    for (const KernelParameter& p : text_.parameters)  // NAN, for example
      if (p.name.size() > 1) source() += concat("#undef ", p.name, "\n");
    std::vector<std::string_view> defined;
    for_each([&](const KernelParameter& p, const BoundParameter& b) {
      if (p.dtype || p.structure || std::find(defined.begin(), defined.end(), p.type) != defined.end()) return;
      defined.push_back(p.type);
      source() += concat("typedef ", c_type(p.seen_as.value_or(b.dtype)), " ", p.type, ";\n");
    });
    if (!text_.preamble.empty()) source() += text_.preamble + "\n";
    add_structures();
  }

  // Adds a variable of the size of each class of the parameters, whose size only the compiler knows.
  void add_structures() {
    for (const KernelParameter& p : text_.parameters) {
      made_.structures.push_back(p.structure ? concat(made_.entry, "_bytes_", p.name) : std::string());
      if (p.structure)
        source() += concat("extern \"C\" {\n__device__ char ", made_.structures.back(), "[sizeof(", p.type, ")];\n}\n");
    }
  }

  std::string range(const std::string& rank) const { return concat("catena::user::Range<", rank, ", ", width_, ">"); }

  std::string member_type(const KernelParameter& p, const BoundParameter& b) const {
    const std::string element =
        concat(p.output ? "" : "const ", p.structure ? std::string_view(p.type) : c_type(b.dtype));
    switch (b.form) {
      case Form::scalar: return concat("catena::user::Held<", c_type(b.dtype), ">");
      case Form::raw: return concat("catena::user::Raw<", element, ", ", int(b.rank), ", false>");
      case Form::raw_contiguous: return concat("catena::user::Raw<", element, ", ", int(b.rank), ", true>");
      case Form::flat: return concat("catena::user::Flat<", element, ">");
      case Form::strided: break;
    }
    const bool reduced = text_.kind == KernelText::Kind::reduction && !p.output;
    return concat("catena::user::Strided<", element, ", ", reduced ? input_rank_ : rank_, ">");
  }
  std::string members() const {
    std::string text;
    for_each([&](const KernelParameter& p, const BoundParameter& b) {
      text += concat("  ", member_type(p, b), " ", p.name, ";\n");
    });
    return text;
  }

  // True if the elements have another type in the text than in the array.
  static bool is_converted(const KernelParameter& p, const BoundParameter& b) {
    return p.seen_as.has_value() && *p.seen_as != b.dtype;
  }

  // Declares the current elements under the names of their parameters. A converted output is a variable, which begins
  // with the element's value, because a text need not assign it.
  template <class F> void add_elements(std::string_view indices, F&& wanted) {
    for_each([&](const KernelParameter& p, const BoundParameter& b) {
      if (p.raw || b.form == Form::scalar || !wanted(p)) return;
      const std::string element = concat("_p.", p.name, ".at(", indices, ")");
      if (!is_converted(p, b)) {
        source() += concat("    ", p.output ? "" : "const ", c_type(b.dtype), p.output ? "& " : " ", p.name, " = ",
                           element, ";\n");
        return;
      }
      const std::string_view seen = c_type(*p.seen_as);
      if (p.output) source() += concat("    ", c_type(b.dtype), "& _stored_", p.name, " = ", element, ";\n");
      source() += concat("    ", p.output ? "" : "const ", seen, " ", p.name, " = catena::user::converted<", seen, ">(",
                         p.output ? "_stored_" + p.name : element, ");\n");
    });
  }

  // Stores the converted outputs.
  std::string store_outputs() const {
    std::string text;
    for_each([&](const KernelParameter& p, const BoundParameter& b) {
      if (p.output && is_converted(p, b))
        text += concat("    _stored_", p.name, " = catena::user::converted<", c_type(b.dtype), ">(", p.name, ");\n");
    });
    return text;
  }

  // Begins a function whose parameter is the struct _p.
  void add_signature(const std::string& name, int block) {
    source() += concat("extern \"C\" __global__ void __launch_bounds__(", block, ") ", name,
                       "(const __grid_constant__ _Parameters _p) {\n");
  }

  void add_body() {
    std::string fields, initial;
    for_each([&](const KernelParameter& p, const BoundParameter& b) {
      if (b.form != Form::scalar && !p.raw) return;
      const bool scalar = b.form == Form::scalar;
      fields +=
          concat("  const ", scalar ? std::string(c_type(b.dtype)) + " " : member_type(p, b) + "& ", p.name, ";\n");
      initial += concat(", ", p.name, "(_q.", p.name, scalar ? ".value)" : ")");
    });
    const std::string indices = concat("const catena::user::Position<", rank_,
                                       ">& _out_ind, const catena::user::Position<", input_rank_, ">& _in_ind");
    source() += concat("struct _Reduction {\n  typedef _type_reduce _accumulator_type;\n  const _Parameters& _p;\n",
                       fields, "  ND_FN explicit _Reduction(const _Parameters& _q) : _p(_q)", initial,
                       " {}\n  ND_FN _type_reduce _identity() const {\n", "    return _type_reduce(",
                       text_.identity.value_or(""), "\n    );\n  }\n  ND_FN _type_reduce _map(", indices,
                       ") const {\n    const long long _i = _out_ind.position, _j = _in_ind.position;\n");
    add_elements("_in_ind", [](const KernelParameter& p) { return !p.output; });
    source() +=
        concat("    return _type_reduce(", text_.map, "\n    );\n  }\n",
               "  ND_FN _type_reduce _combine(_type_reduce a, _type_reduce b) const {\n    return _type_reduce(",
               text_.reduce, "\n    );\n  }\n  ND_FN void _finish(", indices,
               ", _type_reduce a) const {\n    const long long _i = _out_ind.position;\n");
    add_elements("_out_ind", [](const KernelParameter& p) { return p.output; });
    source() += concat(element_body(text_.post_map), store_outputs(), "  }\n};\n");
  }

  const KernelText& text_;
  const KernelVariant& variant_;
  GeneratedUserKernel made_;
  std::string rank_, reduced_rank_, input_rank_, width_;  // input_rank_: the reduced axes, then the kept ones
};

}  // namespace

const KernelText* intern(KernelText text) {
  static auto& texts = *new internal::Definitions<KernelText>;
  const std::string key = contents(text);
  return &texts.find(key, [&] { return std::make_unique<const KernelText>(std::move(text)); });
}

std::size_t UserKernelHash::operator()(const UserKernelKey& key) const noexcept {
  std::uint64_t h = reinterpret_cast<std::uintptr_t>(key.text);
  const auto mix = [&h](std::uint64_t v) { h = (h ^ v) * 0x9e3779b97f4a7c15u, h ^= h >> 29; };
  mix(std::uint64_t(key.device.kind) << 40 | std::uint64_t(key.device.id) << 24 |
      std::uint64_t(key.variant.rank) << 16 | std::uint64_t(key.variant.reduced_rank) << 8 |
      std::uint64_t(key.variant.index32));
  for (const BoundParameter& b : key.variant.parameters)
    mix(std::uint64_t(b.dtype) << 16 | std::uint64_t(b.form) << 8 | b.rank);
  return static_cast<std::size_t>(h);
}

GeneratedUserKernel generate_user_kernel(const KernelText& text, const KernelVariant& variant) {
  Generator generator(text, variant);
  return text.kind == KernelText::Kind::elementwise ? generator.elementwise() : generator.reduction();
}

std::string describe(const KernelText& text) {
  return concat(text.kind == KernelText::Kind::elementwise ? "ElementwiseKernel " : "ReductionKernel ", text.name);
}

DeviceModule::~DeviceModule() = default;
std::optional<std::span<const unsigned long>> DeviceModule::parameter_bytes(const void*) const { return {}; }

}  // namespace nd
