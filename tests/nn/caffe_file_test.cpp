// Files of Caffe byte by byte: the encoding of protocol buffers, and files that are truncated, damaged or made to harm.
#include <catena/nn/caffe/caffe_function.h>

#include <sys/resource.h>

#include <cstdlib>
#include <random>

#include <catena/kernels/formats/wire.h>
#include <catena/nn/caffe/caffe_model.h>
#include <catena/tests/support/caffe_models.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using catena::WireField;
using catena::WireReader;
using catena::WireType;
using nn::links::caffe::CaffeFunction;
using nn::links::caffe::internal::CaffeModel;
using nn::links::caffe::internal::LayerParameter;

namespace {

const TemporaryFolder& folder() {
  static const TemporaryFolder one("caffe_file");
  return one;
}
CaffeFunction load(const std::string& bytes) {
  write_file(folder() / "model", bytes);
  return CaffeFunction(folder() / "model");
}
std::string error_of(const std::string& bytes) {
  return message_of<catena::ValueError>([&] { load(bytes); });
}
// The first layer of a file.
LayerParameter layer_of(const Message& net) {
  write_file(folder() / "model", net.bytes);
  return CaffeModel(folder() / "model").layer(0);
}

const std::string kContext = "context";
std::vector<WireField> fields_of(const Message& m) {
  WireReader reader(kContext, "model of Caffe", std::as_bytes(std::span(m.bytes)));
  std::vector<WireField> fields;
  while (const auto field = reader.next()) fields.push_back(*field);
  BOOST_TEST(reader.at_end());
  return fields;
}
std::string wire_error(const Message& m) {
  return message_of<catena::ValueError>([&] { fields_of(m); });
}
std::string text_of(const WireField& f) { return {reinterpret_cast<const char*>(f.bytes.data()), f.bytes.size()}; }

Message convolution(const std::string& name, const std::string& bottom) {
  return caffe_layer("Convolution", name, {bottom}, {name})
      .message(7, caffe_blob({2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}))
      .message(7, caffe_blob({2}, {1, 2}))
      .message(106, Message().varint(1, 2).varint(4, 2).varint(3, 1).varint(5, 1));
}
// Layers of all types, without a child twice.
std::vector<Message> some_layers() {
  return {caffe_layer("Data", "data", {}, {"data"}),
          convolution("conv/1", "data"),
          caffe_layer("BatchNorm", "bn", {"conv/1"}, {"conv/1"})
              .message(7, caffe_blob({2}, {1, 2}))
              .message(7, caffe_blob({2}, {1, 2}))
              .message(7, caffe_blob({1}, {2}))
              .message(139, Message().varint(1, 1).float32(3, 1e-5f)),
          caffe_layer("Scale", "scale", {"conv/1"}, {"conv/1"})
              .message(7, caffe_blob({2}, {1, 2}))
              .message(7, caffe_blob({2}, {1, 2}))
              .message(142, Message().varint(4, 1)),
          caffe_layer("ReLU", "relu", {"conv/1"}, {"conv/1"}).message(123, Message().float32(1, 0.5f)),
          caffe_layer("Split", "split", {"conv/1"}, {"a", "b"}),
          caffe_layer("LRN", "lrn", {"a"}, {"a"}).message(118, Message().varint(1, 3).float32(2, 1)),
          caffe_layer("Pooling", "pool", {"a"}, {"p"}).message(121, Message().varint(2, 2).varint(3, 2)),
          caffe_layer("Slice", "slice", {"b"}, {"c", "d"}).message(126, Message().varint(2, 1).varint(3, 1)),
          caffe_layer("Concat", "concat", {"c", "d"}, {"e"}).message(104, Message().varint(2, 1)),
          caffe_layer("Eltwise", "sum", {"e", "a"}, {"f"}).message(110, Message().float32(2, 1).float32(2, 2)),
          caffe_layer("Dropout", "drop", {"p"}, {"p"}).message(108, Message().float32(1, 0.25f)),
          caffe_layer("InnerProduct", "fc", {"p"}, {"g"})
              .message(7, caffe_blob({1, 8}, std::vector<float>(8, 1)))
              .message(117, Message().varint(2, 0)),
          caffe_layer("Softmax", "prob", {"g"}, {"prob"}).message(125, Message().varint(2, 1))};
}
Message some_v1_layers() {
  Message net;
  net.message(2, caffe_v1_layer(4, "conv", {"data"}, {"conv"})
                     .message(6, Message().varint(1, 1).varint(2, 1).varint(3, 2).varint(4, 2).packed(5, {1, 2, 3, 4}))
                     .message(10, Message().varint(2, 0).varint(4, 2)));
  net.message(2, caffe_v1_layer(18, "relu", {"conv"}, {"conv"}));
  net.message(2, caffe_v1_layer(17, "pool", {"conv"}, {"pool"}).message(19, Message().varint(2, 2)));
  return net;
}
// Loads what may be anything: an error of the library, or a network.
void load_anything(const std::string& bytes) {
  try {
    load(bytes);
  } catch (const catena::Error&) {}
}
// The most memory that this process has had so far, in MiB.
long peak() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(caffe_file)

BOOST_AUTO_TEST_CASE(fields_on_the_wire) {
  Message m;
  m.varint(1, 0).varint(2, 300).varint(536870911, std::uint64_t(-1)).float32(3, 1.5f).float64(4, -2.5).text(5, "abc");
  m.text(6, "");
  const auto fields = fields_of(m);
  BOOST_REQUIRE(fields.size() == 7u);
  const std::uint32_t numbers[] = {1, 2, 536870911, 3, 4, 5, 6};
  for (std::size_t i = 0; i < 7; ++i) BOOST_TEST(fields[i].number == numbers[i]);
  BOOST_TEST(fields[0].value == 0u);
  BOOST_TEST(fields[1].value == 300u);
  BOOST_TEST(fields[2].value == std::uint64_t(-1));
  BOOST_TEST(fields[3].value == 0x3fc00000u);
  BOOST_TEST(fields[4].value == 0xc004000000000000u);
  BOOST_TEST(text_of(fields[5]) == "abc");
  BOOST_TEST(text_of(fields[6]) == "");
  BOOST_TEST((fields[3].type == WireType::fixed32 && fields[4].type == WireType::fixed64));
  BOOST_TEST(fields_of(Message()).empty());
  // A number may have more bytes than it needs, and groups are skipped with all that is in them.
  Message odd;
  odd.bytes = std::string("\x88\x80\x00\x85\x80\x80\x00", 7);  // field 1: 5
  odd.tag(9, 3).varint(1, 7).text(2, "x").tag(10, 3).float32(1, 1).float64(2, 1).tag(10, 4).tag(9, 4).varint(2, 6);
  const auto rest = fields_of(odd);
  BOOST_REQUIRE(rest.size() == 2u);
  BOOST_TEST((rest[0].number == 1 && rest[0].value == 5));
  BOOST_TEST((rest[1].number == 2 && rest[1].value == 6));
}

BOOST_AUTO_TEST_CASE(errors_on_the_wire) {
  const auto fails = [](const Message& m, const std::string& part) {
    const std::string message = wire_error(m);
    BOOST_TEST(message.starts_with("context: is no model of Caffe"), message);
    BOOST_TEST(has(message, part), message);
  };
  const auto bytes = [](std::string_view text) {
    Message m;
    m.bytes = text;
    return m;
  };
  fails(bytes("\x08"), "a number of 1 bytes begins at byte 1, where 0 are left");
  fails(bytes("\x08\x80\x80"), "begins at byte 3");
  fails(bytes("\x0d\x01\x02\x03"), "a number of 4 bytes begins at byte 1, where 3 are left");
  fails(bytes("\x09\x01\x02\x03"), "a number of 8 bytes begins at byte 1");
  fails(bytes("\x0a\x05\x61"), "a field of 5 bytes begins at byte 2, where 1 are left");
  fails(Message().varint(1, 1).tag(2, 2).number(std::uint64_t(-1)), "a field of 18446744073709551615 bytes begins at");
  fails(bytes("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "the number at byte 1 has more than 10 bytes");
  fails(Message().varint(1, 1).tag(0, 0).number(1), "at byte 2 there is a field 0 of type 0");
  fails(Message().tag(1, 6), "a field 1 of type 6");
  fails(Message().tag(1, 7), "a field 1 of type 7");
  fails(Message().tag(536870912, 0).number(1), "a field 536870912 of type 0");
  fails(Message().tag(1, 4), "the group 1 ends at byte 1 without a beginning");
  fails(Message().tag(1, 3).varint(2, 1), "the group that begins at byte 1 has no end");
  fails(Message().tag(1, 3).tag(2, 4), "the group 1 ends as 2");
  Message deep;
  for (int i = 0; i < 100; ++i) deep.tag(1, 3);
  Message deeper = deep;
  for (int i = 0; i < 100; ++i) deep.tag(1, 4);
  BOOST_TEST(fields_of(deep).empty());
  deeper.tag(1, 3);
  fails(deeper, "more than 100 groups lie in each other");
  // Within a message the position is that in the file.
  const Message inner = Message().varint(1, 1).tag(2, 2).number(100);
  const std::string message = error_of(Message().text(1, "net").message(100, inner).bytes);
  BOOST_TEST(has(message, "a field of 100 bytes begins at byte 12, where 0 are left"), message);
  BOOST_TEST(message.starts_with("CaffeFunction: \"" + (folder() / "model")), message);
}

BOOST_AUTO_TEST_CASE(forms_of_numbers) {
  Message shape, blob;
  shape.text(1, std::string("\x02\x03", 2));  // packed
  blob.message(7, shape);
  for (int i = 0; i < 2; ++i) blob.float32(5, float(i));  // one by one
  blob.packed(5, {2, 3, 4}).float32(5, 5);
  Message layer = caffe_layer("InnerProduct", "fc", {"x"}, {"y"}).message(7, blob);
  // Unknown fields, fields of an unexpected kind, and a message in two parts, of which the second one counts.
  layer.varint(999, 1).text(998, "?").varint(1, 7).tag(50, 3).varint(1, 1).tag(50, 4);
  layer.message(106, Message().varint(4, 3).varint(9, 1)).message(106, Message().varint(4, 5).varint(9, 2));
  layer.message(139, Message().varint(1, 0)).message(117, Message().varint(2, 0)).float32(121, 1);
  const LayerParameter l = layer_of(Message().varint(5, 1).message(100, layer));
  BOOST_TEST(l.name == "fc");
  BOOST_REQUIRE(l.blobs.size() == 1u);
  BOOST_TEST(l.blobs[0].shape.dim == std::vector<std::int64_t>({2, 3}), boost::test_tools::per_element());
  BOOST_TEST(l.blobs[0].data == std::vector<float>({0, 1, 2, 3, 4, 5}), boost::test_tools::per_element());
  BOOST_TEST(l.convolution_param.kernel_size == std::vector<std::uint32_t>({3, 5}), boost::test_tools::per_element());
  BOOST_TEST(l.convolution_param.pad_h == 2u);
  BOOST_TEST((l.batch_norm_param.use_global_stats == false));
  BOOST_TEST(!l.inner_product_param.bias_term);
  BOOST_TEST(!l.slice_param.axis.has_value());
  // Doubles take the place of floats.
  Message doubles;
  doubles.message(7, Message().varint(1, 1).varint(1, 2)).float64(8, 0.1).float64(8, -3).packed(5, {7});
  CaffeFunction net = load(
      caffe_net(
          {caffe_layer("InnerProduct", "fc", {"x"}, {"y"}).message(7, doubles).message(117, Message().varint(2, 0))})
          .bytes);
  const Variable w = net.params()[0];
  BOOST_TEST((w.dtype() == Dtype::float32));
  BOOST_TEST(values(w.data()) == std::vector<double>({double(0.1f), -3}), boost::test_tools::per_element());
  // Bytes that are no whole number of floats.
  const std::string message =
      error_of(caffe_net({caffe_layer("ReLU", "r", {}, {}).message(7, Message().text(5, "abcde"))}).bytes);
  BOOST_TEST(has(message, "are no numbers of 4 bytes"), message);
}

BOOST_AUTO_TEST_CASE(files_that_are_no_models) {
  const std::string missing = message_of<catena::IOError>([] { CaffeFunction("/nowhere/model"); });
  BOOST_TEST(missing.starts_with("CaffeFunction: \"/nowhere/model\": "), missing);
  BOOST_CHECK_THROW(CaffeFunction(folder().path.string()), catena::IOError);
  BOOST_TEST(has(error_of(""), "has no layers, so it is no model of Caffe"));
  BOOST_TEST(has(error_of(Message().text(1, "net").varint(100, 1).bytes), "has no layers"));
  BOOST_TEST(has(error_of("PK\x03\x04 not a caffemodel"), "is no model of Caffe"));
}

BOOST_AUTO_TEST_CASE(truncated_anywhere) {
  for (const std::string& file : {caffe_net(some_layers()).bytes, some_v1_layers().bytes}) {
    BOOST_TEST(!load(file).layers.empty());
    int errors = 0;
    for (std::size_t n = 0; n < file.size(); ++n) {
      BOOST_TEST_CONTEXT("the first " << n << " bytes") {
        try {  // between two layers a file is whole
          const CaffeFunction net = load(file.substr(0, n));
          BOOST_TEST(net.layers.size() < load(file).layers.size());
        } catch (const catena::ValueError& e) {
          BOOST_TEST(std::string(e.what()).starts_with("CaffeFunction: \"" + (folder() / "model") + "\": "), e.what());
          ++errors;
        }
      }
    }
    BOOST_TEST(errors + 16 > int(file.size()));
  }
}

// Damaged files are refused by an error of the library, or read as something else; nothing crashes, and no size that
// the file claims is allocated.
BOOST_AUTO_TEST_CASE(damaged_anywhere) {
  const Warnings warnings;
  std::mt19937 draw(24);
  const long before = peak();
  for (const std::string& file : {caffe_net(some_layers()).bytes, some_v1_layers().bytes}) {
    load_anything(file);
    for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {  // every bit
      std::string damaged = file;
      damaged[bit / 8] = char(damaged[bit / 8] ^ (1 << (bit % 8)));
      load_anything(damaged);
    }
    for (int k = 0; k < 1000; ++k) {  // several bytes, and bytes that are missing or too many
      std::string damaged = file;
      for (int j = draw() % 8; j >= 0; --j) damaged[draw() % damaged.size()] = char(draw());
      if (draw() % 4 == 0) damaged.erase(draw() % damaged.size(), draw() % 5);
      if (draw() % 4 == 0) damaged.insert(draw() % damaged.size(), std::string(draw() % 5, char(draw())));
      load_anything(damaged);
    }
  }
  for (int k = 0; k < 1000; ++k) {
    std::string noise(draw() % 200, '\0');
    for (char& c : noise) c = char(draw());
    load_anything(noise);
    load_anything(caffe_net({}).message(100, Message().raw(noise.data(), noise.size())).bytes);
  }
  BOOST_TEST(peak() - before < 512);
}

BOOST_AUTO_TEST_CASE(many_entries) {
  // Names of two bytes each: a limit, so that memory stays in proportion to the file.
  Message layer = caffe_layer("ReLU", "r", {}, {});
  for (int i = 0; i < 65537; ++i) layer.text(3, "");
  const std::string message = error_of(caffe_net({layer}).bytes);
  BOOST_TEST(has(message, "has more than 65536 entries of one kind"), message);
  Message blobs = caffe_layer("ReLU", "r", {}, {});
  for (int i = 0; i < 65537; ++i) blobs.text(7, "");
  BOOST_TEST(has(error_of(caffe_net({blobs}).bytes), "has more than 65536 entries of one kind"));
  // Many layers of one name.
  Message net;
  for (int i = 0; i < 20000; ++i) net.message(100, caffe_layer("ReLU", "r", {"x"}, {"x"}));
  BOOST_TEST(load(net.bytes).layers.size() == 20000u);
}

// A file that is a pipe has no size.
BOOST_AUTO_TEST_CASE(read_from_a_pipe) {
  const std::string file = caffe_net(some_layers()).bytes;
  write_file(folder() / "piped", file);
  const CaffeFunction expected(folder() / "piped");
  const std::string fifo = folder() / "fifo";
  BOOST_REQUIRE(
      std::system(("mkfifo '" + fifo + "' && (cat '" + (folder() / "piped") + "' > '" + fifo + "' &)").c_str()) == 0);
  const CaffeFunction net(fifo);
  BOOST_TEST(net.layers.size() == expected.layers.size());
}

BOOST_AUTO_TEST_SUITE_END()
