// Folder nn/onnx: networks in ONNX files. export.h writes what a traced forward computes; this header has the messages
// of a file; tensor.h converts arrays. This folder may use nn and, in sources, autograd/functions, nn/functions,
// nn/links and the formats of kernels/formats.
//
// This header: the messages of onnx.proto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto), limited to the
// fields that networks use. Members have the names and the defaults of onnx.proto. Other fields are skipped when a file
// is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/export.h>

namespace nn::onnx {

// TensorProto.DataType
enum class DataType : std::int32_t {
  undefined = 0,
  float_ = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  bool_ = 9,
  float16 = 10,
  double_ = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16
};

// StringStringEntryProto
struct StringEntry {
  std::string key, value;
};

// TensorProto. The elements are in raw_data, little-endian and in C order, or in the list of their type.
struct Tensor {
  enum class Location : std::int32_t { default_ = 0, external = 1 };

  std::vector<std::int64_t> dims;
  DataType data_type = DataType::undefined;
  std::string name, doc_string;
  std::string raw_data;
  std::vector<float> float_data;
  std::vector<std::int32_t> int32_data;  // also of bool, the small integers, and the bits of float16 and bfloat16
  std::vector<std::int64_t> int64_data;
  std::vector<double> double_data;
  std::vector<std::uint64_t> uint64_data;  // also of uint32
  std::vector<std::string> string_data;
  // Where the elements are if not in the file: "location", "offset", "length". `read` replaces it by raw_data.
  std::vector<StringEntry> external_data;
  Location data_location = Location::default_;
};

struct Graph;

// AttributeProto. `type` states which of the members has the value.
struct Attribute {
  enum class Type : std::int32_t {
    undefined = 0,
    float_ = 1,
    int_ = 2,
    string = 3,
    tensor = 4,
    graph = 5,
    floats = 6,
    ints = 7,
    strings = 8,
    tensors = 9,
    graphs = 10
  };

  std::string name, ref_attr_name, doc_string;
  Type type = Type::undefined;
  float f = 0;
  std::int64_t i = 0;
  std::string s;
  std::optional<Tensor> t;
  std::vector<Graph> g;  // one, for Type::graph
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string> strings;
  std::vector<Tensor> tensors;
  std::vector<Graph> graphs;
};

// NodeProto. An input without a name is an optional one that is left out.
struct Node {
  std::vector<std::string> input, output;
  std::string name, op_type, domain, doc_string;
  std::vector<Attribute> attribute;

  // Returns null if there is no attribute of that name.
  CATENA_EXPORT const Attribute* find(std::string_view attribute_name) const noexcept;
};

// TensorShapeProto.Dimension: a number, a name ("batch"), or neither where it is unknown.
struct Dimension {
  std::optional<std::int64_t> dim_value;
  std::optional<std::string> dim_param;
};
struct TensorShape {
  std::vector<Dimension> dim;
};
// TypeProto.Tensor. A tensor without a shape may have any.
struct TensorType {
  DataType elem_type = DataType::undefined;
  std::optional<TensorShape> shape;
};
// TypeProto: other types than tensors are skipped when a file is read.
struct Type {
  std::optional<TensorType> tensor_type;
};
// ValueInfoProto
struct ValueInfo {
  std::string name;
  std::optional<Type> type;
  std::string doc_string;
};

// GraphProto
struct Graph {
  std::vector<Node> node;  // each after those whose outputs it reads
  std::string name;
  std::vector<Tensor> initializer;
  std::string doc_string;
  std::vector<ValueInfo> input, output, value_info;
};

// OperatorSetIdProto. The domain "" (or "ai.onnx") has the operators of ONNX.
struct OperatorSet {
  std::string domain;
  std::int64_t version = 0;
};

// ModelProto
struct Model {
  std::int64_t ir_version = 0;
  std::vector<OperatorSet> opset_import;
  std::string producer_name, producer_version, domain;
  std::int64_t model_version = 0;
  std::string doc_string;
  std::optional<Graph> graph;
  std::vector<StringEntry> metadata_props;

  // Returns the version of the operators of a domain, or 0 if the model does not import it.
  CATENA_EXPORT std::int64_t opset_version(std::string_view domain_name = "") const noexcept;
};

// Reads a file, with the external data of its tensors, which must lie in the folder of the file or below. IOError if a
// file cannot be read; ValueError, with the position in the file, for one that is truncated, damaged, no model of ONNX,
// or whose external data lie elsewhere. Memory is never allocated by a length in the file.
CATENA_EXPORT Model read(const std::string& path);
// Reads a model from memory. `name` is what errors call it. External data stay as they are.
CATENA_EXPORT Model read_bytes(std::string_view bytes, const std::string& name = "bytes");

// Writes a file atomically: a failed write leaves an existing file unchanged. ValueError for a model of 2 GiB or more,
// which protocol buffers cannot represent.
CATENA_EXPORT void write(const std::string& path, const Model& model);
CATENA_EXPORT std::string write_bytes(const Model& model);

}  // namespace nn::onnx
