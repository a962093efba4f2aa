// Models of Caffe for tests: an encoder of protocol buffers, field by field, which shares no code with the reader.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace test {

class Message {
 public:
  Message& varint(std::uint32_t field, std::uint64_t value) { return tag(field, 0).number(value); }
  Message& float32(std::uint32_t field, float value) { return tag(field, 5).raw(&value, 4); }
  Message& float64(std::uint32_t field, double value) { return tag(field, 1).raw(&value, 8); }
  Message& text(std::uint32_t field, std::string_view value) {
    return tag(field, 2).number(value.size()).raw(value.data(), value.size());
  }
  Message& message(std::uint32_t field, const Message& value) { return text(field, value.bytes); }
  Message& packed(std::uint32_t field, const std::vector<float>& values) {
    return text(field, {reinterpret_cast<const char*>(values.data()), 4 * values.size()});
  }
  Message& tag(std::uint32_t field, std::uint32_t type) { return number(std::uint64_t(field) << 3 | type); }
  Message& number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes += char(value | 0x80);
    bytes += char(value);
    return *this;
  }
  Message& raw(const void* from, std::size_t n) {
    bytes.append(static_cast<const char*>(from), n);
    return *this;
  }

  std::string bytes;
};

using BlobNames = std::vector<std::string>;

inline Message caffe_blob(const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
  Message shape;
  for (const std::int64_t n : dims) shape.varint(1, std::uint64_t(n));
  return Message().message(7, shape).packed(5, values);
}

// Returns a layer of the later form. The caller adds its parameters and blobs (field 7).
inline Message caffe_layer(std::string_view type, std::string_view name, const BlobNames& bottoms,
                           const BlobNames& tops) {
  Message layer;
  layer.text(1, name).text(2, type);
  for (const std::string& b : bottoms) layer.text(3, b);
  for (const std::string& t : tops) layer.text(4, t);
  return layer;
}
inline Message caffe_v1_layer(int type, std::string_view name, const BlobNames& bottoms, const BlobNames& tops) {
  Message layer;
  layer.varint(5, std::uint64_t(type)).text(4, name);
  for (const std::string& b : bottoms) layer.text(2, b);
  for (const std::string& t : tops) layer.text(3, t);
  return layer;
}
inline Message caffe_net(const std::vector<Message>& layers) {
  Message net;
  net.text(1, "net");
  for (const Message& layer : layers) net.message(100, layer);
  return net;
}

}  // namespace test
