#include <catena/ndarray/user_kernel/kernel_arguments.h>

#include <algorithm>
#include <cstring>

#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/device/text_kernels.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/user_kernel/memo_map.h>

namespace nd::internal {

using catena::ArrayHeader;
using catena::check;
using catena::fail;
using Form = BoundParameter::Form;

namespace {

// True if the text contains the identifier as a whole word.
bool has_word(std::string_view text, std::string_view word) {
  const auto belongs = [&](std::size_t k) { return k < text.size() && is_identifier(catena::concat('x', text[k])); };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    if ((at == 0 || !belongs(at - 1)) && !belongs(at + word.size())) return true;
  return false;
}

}  // namespace

void check_kernel(const KernelText& text) {
  check<ValueError>(is_identifier(text.name), text.label, "the name \"", text.name, "\" is no identifier");
  for (std::size_t k = 0; k < text.parameters.size(); ++k) {
    const KernelParameter& p = text.parameters[k];
    for (std::size_t j = 0; j < k; ++j)
      check<ValueError>(text.parameters[j].name != p.name, text.label, "there are two parameters named ", p.name);
    for (const KernelParameter& other : text.parameters)
      check<ValueError>(other.dtype || other.type != p.name, text.label, "the parameter ", p.name,
                        " has the name of the type of ", other.name);
    check<ValueError>(!p.structure || has_word(text.preamble, p.type), text.label, "the type ", p.type, " of ", p.name,
                      " is neither a dtype by its canonical name, such as float32, nor a single letter, nor a class of "
                      "the preamble");
    check<ValueError>(text.kind != KernelText::Kind::reduction || !p.output || p.name != "a", text.label,
                      "an output cannot be named a, which is the reduced value");
  }
}

void LoopAxes::normalize(bool may_merge) {
  if (may_merge) catena::merge_axes(shape, strides);
  if (!shape.empty()) return;
  shape.push_back(1);
  for (Strides& s : strides) s.push_back(0);
}

void LoadedText::launch(const void* function, const LaunchShape& shape, std::span<const std::int64_t> words,
                        StreamRef stream) const {
  constexpr std::size_t kMostBytes = 4096;  // limit that every driver accepts
  check<ValueError>(stream.device.kind == Device::Kind::cpu || words.size_bytes() <= kMostBytes, label,
                    "its parameters take ", words.size_bytes(), " bytes for arrays of these ranks; a kernel can have ",
                    kMostBytes);
  const ArgumentBytes parameters = std::as_bytes(words);
  module->launch(function, shape, {&parameters, 1}, stream);
}

LaunchShape launch_shape(Device device, std::int64_t items, std::int64_t elements, unsigned threads,
                         std::int64_t per_block) {
  LaunchShape shape;
  std::int64_t most = items;
  if (device.kind == Device::Kind::cpu) {
    per_block = std::max<std::int64_t>(kHostGrain / elements, 1);
    shape.elements_per_thread = kHostGrain;
  } else {
    const DeviceProperties& d = runtime(device.kind).properties(device.id);
    most = std::int64_t(d.processors) * d.max_threads_per_processor / 128 * 4;
    shape.block[0] = threads;
  }
  shape.grid[0] = static_cast<unsigned>(std::clamp<std::int64_t>((items + per_block - 1) / per_block, 1, most));
  return shape;
}

KernelArguments::KernelArguments(const KernelText& text, std::span<const Operand> args,
                                 const std::optional<Stream>& stream)
    : text_(text), args_(args), arrays_(text.parameters.size()), dtypes_(text.parameters.size()) {
  check_count(args.size());
  for (std::size_t k = 0; k < args.size(); ++k) {
    check<TypeError>(k < text.nin || args[k].is_array(), text.label, "the output ", text.parameters[k].name,
                     " must be an array");
    if (args[k].is_array()) arrays_[k] = args[k].array();
  }
  device_ = common_device(text.label, args);
  if (stream) {
    const bool any =
        std::any_of(arrays_.begin(), arrays_.end(), [](const Array& a) { return !a.is_null() && a.size() != 0; });
    check<ValueError>(!any || stream->device() == device_, text.label, "the stream is of ", stream->device(),
                      ", the arrays are on ", device_);
    device_ = stream->device();
    scope_.emplace(*stream);
  }
  resolve_types();
}

void KernelArguments::check_count(std::size_t given) const {
  if (given == text_.nin || given == text_.parameters.size()) return;
  fail<TypeError>(text_.label, "takes ", text_.nin, " inputs, or ", text_.parameters.size(),
                  " arguments with its outputs; ", given, " were given");
}

// Placeholders are determined by explicit outputs first, then by inputs from left to right; never by scalars.
void KernelArguments::resolve_types() {
  constexpr auto kUnknown = static_cast<std::size_t>(-1);
  // The parameter that determined each placeholder, stored at the first parameter with that placeholder.
  catena::SmallVector<std::size_t, 8> fixed_by(size());
  std::fill(fixed_by.begin(), fixed_by.end(), kUnknown);
  const auto group_of = [&](std::size_t k) {
    std::size_t first = 0;
    while (parameter(first).type != parameter(k).type) ++first;
    return first;
  };
  const auto look_at = [&](std::size_t k) {
    const ArrayHeader* h = array(k);
    const KernelParameter& p = parameter(k);
    if (p.structure) {
      check<TypeError>(h != nullptr, text_.label, "the parameter ", p.name, " of ", p.type,
                       " needs an array, as nd::struct_array makes");
      check<TypeError>(
          h->dtype == Dtype::uint8 && !h->shape.empty() && (h->strides.back() == 1 || h->shape.back() <= 1),
          text_.label, "the parameter ", p.name, " is an array of ", p.type,
          ", which needs uint8 elements with the bytes of one object along the last axis; its array has dtype ",
          h->dtype, " and shape ", h->shape);
      return;
    }
    if (h == nullptr) return;
    if (p.dtype) {
      check<TypeError>(h->dtype == *p.dtype, text_.label, "the parameter ", p.name, " is ", p.type,
                       ", its array has dtype ", h->dtype);
      return;
    }
    std::size_t& first = fixed_by[group_of(k)];
    if (first == kUnknown) first = k;
    check<TypeError>(h->dtype == array(first)->dtype, text_.label, "the parameter ", p.name, " is of type ", p.type,
                     ", which is ", array(first)->dtype, " because of ", parameter(first).name,
                     "; its array has dtype ", h->dtype);
  };
  for (std::size_t k = text_.nin; k < size(); ++k) look_at(k);
  for (std::size_t k = 0; k < text_.nin; ++k) look_at(k);
  for (std::size_t k = 0; k < size(); ++k) {
    const KernelParameter& p = parameter(k);
    if (p.structure || (p.seen_as && array(k) == nullptr)) {
      dtypes_[k] = p.structure ? Dtype::uint8 : *p.seen_as;
      continue;
    }
    const std::size_t first = p.dtype ? k : fixed_by[group_of(k)];
    check<TypeError>(first != kUnknown, text_.label, "no array says what the type ", p.type, " of ", p.name,
                     " is; give an explicit output or an array");
    dtypes_[k] = p.dtype ? *p.dtype : array(first)->dtype;
  }
}

void KernelArguments::check_outputs() const {
  for (std::size_t k = text_.nin; k < size(); ++k) {
    if (!is_moving(k)) continue;
    check_output_layout(text_.label, *array(k));
    for (std::size_t j = text_.nin; j < k; ++j)
      check<ValueError>(!is_moving(j) || !arrays_[k].shares_memory(arrays_[j]), text_.label, "the outputs ",
                        parameter(j).name, " and ", parameter(k).name, " share memory");
  }
}

std::optional<Shape> KernelArguments::common_shape(std::size_t count) const {
  std::optional<Shape> shape;
  for (std::size_t k = 0; k < count; ++k)
    if (is_moving(k)) shape = shape ? catena::broadcast_shapes(text_.label, *shape, array(k)->shape) : array(k)->shape;
  return shape;
}

void KernelArguments::prepare_outputs(const Shape& shape, std::string_view origin, bool sized) {
  const bool elementwise = text_.kind == KernelText::Kind::elementwise;
  for (std::size_t k = text_.nin; k < size(); ++k) {
    const KernelParameter& p = parameter(k);
    if (array(k) == nullptr)
      check<ValueError>(!p.raw || sized, text_.label, "the size of the raw output ", p.name,
                        " is undecided: give the array", elementwise ? ", or a size" : "");
    else if (!p.raw)
      check<ValueError>(array(k)->shape == shape, text_.label, "the output ", p.name, " has shape ", array(k)->shape,
                        ", ", origin, " ", shape);
  }
  check_outputs();
  for (std::size_t k = text_.nin; k < size(); ++k)
    if (array(k) == nullptr) arrays_[k] = Array(new_array(shape, dtypes_[k], device_, text_.label));
}

void KernelArguments::separate(bool positions_differ) {
  for (std::size_t in = 0; in < text_.nin; ++in) {
    if (!is_moving(in)) continue;
    for (std::size_t out = text_.nin; out < size(); ++out) {
      if (!is_moving(out)) continue;
      if (positions_differ ? arrays_[in].shares_memory(arrays_[out]) : catena::overlaps(*array(in), *array(out))) {
        arrays_[in] = arrays_[in].astype(arrays_[in].dtype());
        break;
      }
    }
  }
}

bool KernelArguments::add_fixed(std::size_t k, KernelVariant& variant, std::vector<std::int64_t>& words) const {
  const ArrayHeader* h = array(k);
  if (h == nullptr) {
    std::int64_t value[catena::kMaxItemsize / 8] = {};
    args_[k].scalar().store(dtype(k), value);
    words.insert(words.end(), value, value + (catena::itemsize(dtype(k)) + 7) / 8);
    variant.parameters.push_back({dtype(k), Form::scalar, 0});
    return true;
  }
  if (!parameter(k).raw) return false;
  Dims shape = h->shape, strides = h->strides;
  std::int64_t size = h->size;
  if (parameter(k).structure) {  // the last axis is within an element
    size /= std::max<std::int64_t>(shape.back(), 1);
    shape.pop_back();
    strides.pop_back();
  }
  words.push_back(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(h->data)));
  words.push_back(size);
  for (const Dims* dims : {&shape, &strides}) {
    words.insert(words.end(), dims->begin(), dims->end());
    if (dims->empty()) words.push_back(0);  // the struct has one element: arrays of length 0 are not allowed
  }
  variant.parameters.push_back(
      {dtype(k), h->c_contiguous ? Form::raw_contiguous : Form::raw, static_cast<std::uint8_t>(shape.size())});
  return true;
}

std::shared_ptr<const LoadedText> KernelArguments::load(const KernelVariant& variant) const {
  static auto& table = *new auto(MemoMap<UserKernelKey, LoadedText, UserKernelHash>::make());
  return table->find({&text_, device_, variant}, [&] {
    const GeneratedUserKernel made = generate_user_kernel(text_, variant);
    LoadedText code{
        text_.label,
        text_kernels(device_.kind)
            .load_module({.name = text_.label, .code = made.source, .options = text_.options, .generated = true},
                         device_.id)};
    code.entry = code.module->function(made.entry);
    if (!made.second.empty()) {
      code.second = code.module->function(made.second);
      code.accumulator_bytes = code.module->global(made.accumulator).second;
    }
    for (const std::string& name : made.structures)
      code.structure_bytes.push_back(name.empty() ? 0 : code.module->global(name).second);
    return code;
  });
}

void KernelArguments::check_structures(const LoadedText& code) const {
  for (std::size_t k = 0; k < size(); ++k) {
    const KernelParameter& p = parameter(k);
    if (!p.structure) continue;
    const auto bytes = static_cast<std::int64_t>(code.structure_bytes[k]);
    check<ValueError>(array(k)->shape.back() == bytes, text_.label, "the parameter ", p.name, " is an array of ",
                      p.type, " of ", bytes, " bytes; its array of shape ", array(k)->shape, " has ",
                      array(k)->shape.back(), " bytes along the last axis");
  }
}

std::vector<Array> KernelArguments::outputs() const {
  return {arrays_.begin() + static_cast<std::ptrdiff_t>(text_.nin), arrays_.end()};
}

}  // namespace nd::internal
