#include <catena/nn/onnx/model.h>

#include <charconv>
#include <filesystem>

#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/wire_message.h>

// ---- the fields of the messages --------------------------------------------------------------------
namespace catena::wire {

using namespace nn::onnx;

// A large network has many nodes and tensors.
template <> inline constexpr std::size_t kMaxRepeated<Node> = std::size_t(1) << 24;
template <> inline constexpr std::size_t kMaxRepeated<Tensor> = std::size_t(1) << 24;
template <> inline constexpr std::size_t kMaxRepeated<ValueInfo> = std::size_t(1) << 24;

template <> struct Fields<StringEntry> {
  static constexpr Field<StringEntry> list[] = {field<1, &StringEntry::key>(), field<2, &StringEntry::value>()};
};
template <> struct Fields<Tensor> {
  using P = Tensor;
  static constexpr Field<P> list[] = {
      field<1, &P::dims>(),         field<2, &P::data_type>(),      field<8, &P::name>(),
      field<12, &P::doc_string>(),  field<4, &P::float_data>(),     field<5, &P::int32_data>(),
      field<6, &P::string_data>(),  field<7, &P::int64_data>(),     field<10, &P::double_data>(),
      field<11, &P::uint64_data>(), field<13, &P::external_data>(), field<14, &P::data_location>(),
      field<9, &P::raw_data>()};
};
template <> struct Fields<Attribute> {
  using P = Attribute;
  static const std::span<const Field<P>> list;
};
template <> struct Fields<Node> {
  using P = Node;
  static constexpr Field<P> list[] = {field<1, &P::input>(),    field<2, &P::output>(), field<3, &P::name>(),
                                      field<4, &P::op_type>(),  field<7, &P::domain>(), field<6, &P::doc_string>(),
                                      field<5, &P::attribute>()};
};
template <> struct Fields<Dimension> {
  using P = Dimension;
  static constexpr Field<P> list[] = {field<1, &P::dim_value>(), field<2, &P::dim_param>()};
};
template <> struct Fields<TensorShape> {
  static constexpr Field<TensorShape> list[] = {field<1, &TensorShape::dim>()};
};
template <> struct Fields<TensorType> {
  using P = TensorType;
  static constexpr Field<P> list[] = {field<1, &P::elem_type>(), field<2, &P::shape>()};
};
template <> struct Fields<Type> { static constexpr Field<Type> list[] = {field<1, &Type::tensor_type>()}; };
template <> struct Fields<ValueInfo> {
  using P = ValueInfo;
  static constexpr Field<P> list[] = {field<1, &P::name>(), field<2, &P::type>(), field<3, &P::doc_string>()};
};
template <> struct Fields<Graph> {
  using P = Graph;
  static constexpr Field<P> list[] = {field<1, &P::node>(),        field<2, &P::name>(),   field<5, &P::initializer>(),
                                      field<10, &P::doc_string>(), field<11, &P::input>(), field<12, &P::output>(),
                                      field<13, &P::value_info>()};
};
template <> struct Fields<OperatorSet> {
  using P = OperatorSet;
  static constexpr Field<P> list[] = {field<1, &P::domain>(), field<2, &P::version>()};
};
template <> struct Fields<Model> {
  using P = Model;
  static constexpr Field<P> list[] = {
      field<1, &P::ir_version>(), field<2, &P::producer_name>(), field<3, &P::producer_version>(),
      field<4, &P::domain>(),     field<5, &P::model_version>(), field<6, &P::doc_string>(),
      field<7, &P::graph>(),      field<8, &P::opset_import>(),  field<14, &P::metadata_props>()};
};

// An attribute has its value even if that is 0 or empty.
namespace {
template <std::uint32_t number, auto Member, Attribute::Type type> constexpr Field<Attribute> value_field() {
  return {number, field<number, Member>().read, [](const Attribute& a, std::uint32_t n, WireWriter& writer) {
            if (a.type != type) return;
            if constexpr (Repeated<std::remove_cvref_t<decltype(a.*Member)>>::value) put(a.*Member, n, writer);
            else if constexpr (requires { (a.*Member).has_value(); }) put(a.*Member, n, writer);
            else put_always(a.*Member, n, writer);
          }};
}
using T = Attribute::Type;
constexpr Field<Attribute> kAttribute[] = {field<1, &Attribute::name>(),
                                           field<21, &Attribute::ref_attr_name>(),
                                           field<13, &Attribute::doc_string>(),
                                           field<20, &Attribute::type>(),
                                           value_field<2, &Attribute::f, T::float_>(),
                                           value_field<3, &Attribute::i, T::int_>(),
                                           value_field<4, &Attribute::s, T::string>(),
                                           value_field<5, &Attribute::t, T::tensor>(),
                                           value_field<6, &Attribute::g, T::graph>(),
                                           value_field<7, &Attribute::floats, T::floats>(),
                                           value_field<8, &Attribute::ints, T::ints>(),
                                           value_field<9, &Attribute::strings, T::strings>(),
                                           value_field<10, &Attribute::tensors, T::tensors>(),
                                           value_field<11, &Attribute::graphs, T::graphs>()};
}  // namespace
const std::span<const Field<Attribute>> Fields<Attribute>::list = kAttribute;

}  // namespace catena::wire

namespace nn::onnx {

using catena::check;
using catena::ValueError;

namespace {

constexpr std::string_view kKind = "model of ONNX";
constexpr const char* kRead = "onnx::read";

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

Model parse(const std::string& context, std::string_view bytes) {
  Model model;
  catena::wire::read_message(model, catena::WireReader(context, kKind, bytes_of(bytes)));
  check<ValueError>(model.ir_version > 0 && model.graph.has_value(), context, "is no ", kKind, ": it has no ",
                    model.graph ? "version" : "graph");
  return model;
}

std::uint64_t number_of(const std::string& context, const Tensor& tensor, const StringEntry& entry) {
  std::uint64_t value = 0;
  const char* const end = entry.value.data() + entry.value.size();
  const auto [stop, error] = std::from_chars(entry.value.data(), end, value);
  check<ValueError>(error == std::errc() && stop == end, context, "the tensor ", tensor.name, " has the ", entry.key,
                    " \"", entry.value, "\" of external data, which is no number of bytes");
  return value;
}

// The path of external data, which must not lead out of the folder of the model.
std::string external_path(const std::string& context, const std::filesystem::path& folder, const Tensor& tensor,
                          const std::string& location) {
  const std::filesystem::path relative = std::filesystem::path(location).lexically_normal();
  check<ValueError>(!location.empty() && relative.is_relative() && *relative.begin() != "..", context, "the tensor ",
                    tensor.name, " has its data at \"", location, "\", not in the folder of the model or below");
  return (folder / relative).string();
}

void load_external(const std::string& context, const std::filesystem::path& folder, Tensor& tensor) {
  if (tensor.data_location != Tensor::Location::external) return;
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
  for (const StringEntry& entry : tensor.external_data) {
    if (entry.key == "location") location = entry.value;
    if (entry.key == "offset") offset = number_of(context, tensor, entry);
    if (entry.key == "length") length = number_of(context, tensor, entry);
  }
  const catena::FileAccess file(kRead, external_path(context, folder, tensor, location));
  const std::uint64_t size = file.size();
  check<ValueError>(offset <= size && length.value_or(0) <= size - offset, context, "the tensor ", tensor.name, " has ",
                    length.value_or(0), " bytes at byte ", offset, " of \"", location, "\", which has ", size);
  tensor.raw_data.resize(std::size_t(length.value_or(size - offset)));
  file.read_at(offset, tensor.raw_data.data(), tensor.raw_data.size());
  tensor.external_data.clear();
  tensor.data_location = Tensor::Location::default_;
}

void load_external(const std::string& context, const std::filesystem::path& folder, Graph& graph) {
  for (Tensor& tensor : graph.initializer) load_external(context, folder, tensor);
  for (Node& node : graph.node)
    for (Attribute& attribute : node.attribute) {
      if (attribute.t) load_external(context, folder, *attribute.t);
      for (Tensor& tensor : attribute.tensors) load_external(context, folder, tensor);
      for (Graph& inner : attribute.g) load_external(context, folder, inner);
      for (Graph& inner : attribute.graphs) load_external(context, folder, inner);
    }
}

}  // namespace

const Attribute* Node::find(std::string_view attribute_name) const noexcept {
  for (const Attribute& a : attribute)
    if (a.name == attribute_name) return &a;
  return nullptr;
}

std::int64_t Model::opset_version(std::string_view domain_name) const noexcept {
  const auto plain = [](std::string_view d) { return d == "ai.onnx" ? std::string_view() : d; };
  for (const OperatorSet& set : opset_import)
    if (plain(set.domain) == plain(domain_name)) return set.version;
  return 0;
}

Model read(const std::string& path) {
  const std::string context = catena::io_context(kRead, path);
  Model model = parse(context, catena::read_file(kRead, path));
  load_external(context, std::filesystem::path(path).parent_path(), *model.graph);
  return model;
}

Model read_bytes(std::string_view bytes, const std::string& name) {
  return parse(catena::io_context("onnx::read_bytes", name), bytes);
}

std::string write_bytes(const Model& model) {
  catena::WireWriter writer;
  catena::wire::write_message(model, writer);
  check<ValueError>(writer.text().size() < (std::uint64_t(1) << 31), "onnx::write", "the model has ",
                    writer.text().size(), " bytes, but a message of protocol buffers has less than 2 GiB");
  return writer.take();
}

void write(const std::string& path, const Model& model) {
  const std::string bytes = write_bytes(model);
  catena::AtomicFile file("onnx::write", path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

}  // namespace nn::onnx
