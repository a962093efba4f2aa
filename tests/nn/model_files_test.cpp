// Models of other libraries: PyTorch's files, safetensors by index, GGUF; what they hold, and hostile files.
#include <algorithm>
#include <cstring>

#include <catena/kernels/formats/zip.h>
#include <catena/nn/serializers/gguf.h>
#include <catena/nn/serializers/safetensors.h>
#include <catena/nn/serializers/torch.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using catena::ValueError;
using nn::load_torch;
using nn::read_torch;
using nn::serializers::ArrayMap;
using nn::serializers::GgufFile;
using nn::serializers::load_safetensors;
using nn::serializers::open_torch;
using nn::serializers::read_gguf;
using nn::serializers::read_safetensors;
using nn::serializers::save_safetensors;

namespace {

std::string golden(const std::string& name) {
  static const std::filesystem::path path = test::source_folder() / "tests/golden/model_files";
  return (path / name).string();
}

// Compares the arrays with those that the script has stored for a file.
void check_expected(const ArrayMap& arrays, const std::string& file, bool all = true) {
  const catena::NpzReader npz("test", golden("expected.npz"));
  std::size_t n = 0;
  for (const std::string& key : npz.keys()) {
    if (!key.starts_with(file + "/")) continue;
    const std::string name = key.substr(file.size() + 1);
    BOOST_TEST_CONTEXT(key) {
      ++n;
      const auto found = arrays.find(name);
      BOOST_REQUIRE(found != arrays.end());
      const catena::NpyArray stored = npz.read(key);
      Array a = found->second;
      if (catena::kind_of(a.dtype()) == catena::DtypeKind::complex) continue;  // compared by itself
      BOOST_TEST(a.shape() == stored.shape);
      const std::span<const double> expected = stored.as<double>();
      BOOST_TEST(values(a) == std::vector<double>(expected.begin(), expected.end()), boost::test_tools::per_element());
    }
  }
  BOOST_TEST(n > 0u);
  if (all) BOOST_TEST(arrays.size() == n);
}

struct Network : nn::Chain {
  nn::Convolution2D conv{2, 3, 3, {.pad = 1}};
  nn::BatchNormalization bn{3};
  nn::Linear fc{12, 4};
  NN_MEMBERS(conv, bn, fc)
};

template <class T> void append(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}
void append_text(std::string& to, const std::string& text) {
  append(to, std::uint64_t(text.size()));
  to += text;
}

// A file of torch.save with this pickle and one storage.
void write_archive(const std::string& path, const std::string& pickle,
                   const std::string& storage = std::string(8, 'x')) {
  catena::MemorySink memory;
  catena::ZipWriter zip(memory);
  zip.begin("a/data.pkl", catena::ZipMethod::stored).write(pickle.data(), pickle.size());
  zip.end();
  zip.begin("a/data/0", catena::ZipMethod::stored).write(storage.data(), storage.size());
  zip.end();
  zip.finish();
  write_file(path, std::string(reinterpret_cast<const char*>(memory.bytes().data()), memory.bytes().size()));
}

// {"w": tensor}, of float32 with the offset, one length and its stride, of a storage that claims n elements.
std::string pickle_of_tensor(unsigned offset, unsigned length, unsigned stride, unsigned n,
                             const std::string& type = "FloatStorage") {
  const auto number = [](unsigned v) {
    std::string text = "J";
    append(text, v);
    return text;
  };
  return "\x80\x02}X\x01" + std::string(3, '\0') + "wctorch._utils\n_rebuild_tensor_v2\n((X\x07" +
         std::string(3, '\0') + "storagectorch\n" + type + "\nX\x01" + std::string(3, '\0') + "0X\x03" +
         std::string(3, '\0') + "cpu" + number(n) + "tQ" + number(offset) + number(length) + "\x85" + number(stride) +
         "\x85\x89" + "ccollections\nOrderedDict\n)RtRs.";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(model_files)

// ---- PyTorch ----
BOOST_AUTO_TEST_CASE(state_dictionaries) {
  for (const char* file : {"state.pt", "state_old.pt", "state_protocol_4.pt"})
    BOOST_TEST_CONTEXT(std::string(file)) check_expected(read_torch(golden(file)), "state.pt");
  Network net;
  const nn::LoadReport report = load_torch(golden("state.pt"), net);
  BOOST_TEST(report.is_complete());
  BOOST_TEST(report.to_string() == std::to_string(report.loaded.size()) + " loaded");
  const ArrayMap arrays = read_torch(golden("state.pt"));
  BOOST_TEST(same_bits(net.conv.W.data(), arrays.at("conv.weight")));
  BOOST_TEST(same_bits(net.bn.avg_var.array(), arrays.at("bn.running_var")));
  BOOST_TEST(same_bits(net.fc.b->data(), arrays.at("fc.bias")));
}

BOOST_AUTO_TEST_CASE(every_type_and_every_view) {
  for (const char* file : {"kinds.pt", "kinds_old.pt"}) {
    const ArrayMap arrays = read_torch(golden(file));
    check_expected(arrays, "kinds.pt");
    for (const auto dtype : {Dtype::bfloat16, Dtype::float16, Dtype::float64, Dtype::int64, Dtype::int32, Dtype::int16,
                             Dtype::int8, Dtype::uint8, Dtype::uint16, Dtype::uint32})
      BOOST_TEST(arrays.at(std::string(catena::name_of(dtype))).dtype() == dtype);
    BOOST_TEST(arrays.at("bool").dtype() == Dtype::bool_);
    double parts[4] = {};
    autograd::to_host(autograd::astype(arrays.at("complex"), Dtype::complex128), parts);
    BOOST_TEST((parts[0] == 1 && parts[1] == 2 && parts[2] == 0 && parts[3] == -3));
  }
}

BOOST_AUTO_TEST_CASE(checkpoints) {
  const ArrayMap arrays = read_torch(golden("checkpoint.pt"));
  check_expected(arrays, "checkpoint.pt", false);
  BOOST_TEST(!arrays.contains("name"));
  BOOST_TEST(!arrays.contains("nothing"));
  Network net;
  const nn::LoadReport report = load_torch(golden("checkpoint.pt"), net, {.path = "model"});
  BOOST_TEST(report.missing.empty());
  BOOST_TEST(same_bits(net.fc.W.data(), arrays.at("model.fc.weight")));
  Network other;
  load_torch(golden("checkpoint.pt"), other, "model", true);
  BOOST_TEST(same_bits(other.fc.W.data(), net.fc.W.data()));
}

BOOST_AUTO_TEST_CASE(options_of_loads) {
  struct Larger : Network {
    nn::Linear more{4, 2};
    NN_MEMBERS_OF(Network, more)
  } net;
  BOOST_TEST(has(message_of<catena::KeyError>([&] { load_torch(golden("state.pt"), net); }), "more.weight"));
  const Array before = autograd::copy(net.fc.W.data());
  const nn::LoadReport report =
      load_torch(golden("state.pt"), net,
                 {.strict = false, .ignore_names = [](std::string_view key) { return key.starts_with("fc/"); }});
  BOOST_TEST(report.missing == (std::vector<std::string>{"more/W", "more/b"}), boost::test_tools::per_element());
  BOOST_TEST(report.ignored == (std::vector<std::string>{"fc/W", "fc/b"}), boost::test_tools::per_element());
  BOOST_TEST(same_bits(before, net.fc.W.data()));
  std::ostringstream text;
  text << report;
  BOOST_TEST(has(text.str(), "\n2 missing: more/W, more/b\n2 ignored: fc/W, fc/b"), text.str());
  BOOST_TEST(!report.is_complete());
  nn::Chain few;
  few.add_link("fc", nn::Linear(12, 4));
  BOOST_TEST(has(load_torch(golden("state.pt"), few).to_string(), "unexpected: conv.weight, conv.bias"));
  nn::Chain renamed;
  auto& last = renamed.add_link("last", nn::Linear(12, 4));
  load_torch(golden("state.pt"), renamed, {.rename = {{"last", "fc"}}});
  BOOST_TEST(same_bits(last.W.data(), net.fc.W.data()) == false);
}

BOOST_AUTO_TEST_CASE(nothing_is_executed) {
  const TemporaryFolder folder("torch");
  BOOST_TEST(
      has(message_of<ValueError>([&] { read_torch(golden("whole_model.pt")); }),
          "refers to torch.nn.modules.linear.Linear, which is no part of a state dictionary; it is not executed"));
  write_archive(folder / "a.pt",
                "\x80\x02"
                "cos\nsystem\nX\x02" +
                    std::string(3, '\0') + "ls\x85R.");
  BOOST_TEST(has(message_of<ValueError>([&] { read_torch(folder / "a.pt"); }), "refers to os.system"));
  write_archive(folder / "b.pt",
                "\x80\x04\x8c\x08"
                "builtins\x8c\x04"
                "eval\x93.");
  BOOST_TEST(has(message_of<ValueError>([&] { read_torch(folder / "b.pt"); }), "refers to builtins.eval"));
}

BOOST_AUTO_TEST_CASE(hostile_files_of_pytorch) {
  const TemporaryFolder folder("hostile");
  const std::string path = folder / "a.pt";
  const auto refused = [&](const std::string& pickle, const std::string& why) {
    write_archive(path, pickle);
    const std::string message = message_of<ValueError>([&] { read_torch(path); });
    BOOST_TEST(has(message, why), message);
  };
  write_archive(path, pickle_of_tensor(0, 2, 1, 2));
  BOOST_TEST(read_torch(path).at("w").shape() == Shape({2}));
  refused(pickle_of_tensor(1, 2, 1, 2), "does not lie within its storage of 2 elements");
  refused(pickle_of_tensor(0, 2, 2, 2), "does not lie within its storage");
  refused(pickle_of_tensor(0, 0x7fffffff, 0, 2), "does not lie within its storage");
  refused(pickle_of_tensor(0, 3, 1, 3), "the storage 0 has 8 bytes; 12 from byte 0 on are needed");
  refused(pickle_of_tensor(0, 2, 1, 2, "QInt8Storage"), "refers to torch.QInt8Storage");
  refused(pickle_of_tensor(0, 2, 1, 0xffffffff), "no storage");
  refused("\x80\x02}q\x01h\x01h\x01s.", "neither a text nor an integer");
  refused(
      "\x80\x02]q\x01h\x01"
      "a.",
      "nested more than");
  // Lists that have the list before them twice, so that the last one has 2^40 places, and a name of 2^20 bytes at 1000.
  std::string doubled("\x80\x02]q\0", 5);
  for (int i = 0; i < 40; ++i) {
    const std::string before{'h', char(i)};
    doubled += "](" + before + before + "eq" + char(i + 1);
  }
  refused(doubled + ".", "more than 1000000 values");
  std::string named = "\x80\x02}X";
  append(named, std::uint32_t(1 << 20));
  named += std::string(1 << 20, 'n') + "](";
  for (int i = 0; i < 1000; ++i) named += "K\x01";
  refused(named + "es.", "the names of the values of the pickle have more than");
  // A text of 2^20 bytes at 300 places, and two texts of one name.
  const auto text = [](const std::string& value) {
    std::string all = "X";
    append(all, std::uint32_t(value.size()));
    return all + value;
  };
  std::string repeated = "\x80\x02}" + text("t") + "](" + text(std::string(1 << 20, 'n')) + "q\x01";
  for (int i = 0; i < 300; ++i) repeated += "h\x01";
  refused(repeated + "es.", "the names and texts of the pickle have more than");
  refused("\x80\x02}" + text("a.b") + text("x") + "s" + text("a") + "}" + text("b") + text("y") + "ss.",
          "two texts named a.b");
  const std::string good = pickle_of_tensor(0, 2, 1, 2);
  for (std::size_t n = 0; n + 1 < good.size(); n += 3) refused(good.substr(0, n), "pickle");
  // Files that are cut off or changed.
  for (const char* name : {"state.pt", "state_old.pt"}) {
    const std::string content = file_content(golden(name));
    for (std::size_t n = 0; n < content.size(); n += 97) {
      write_file(path, content.substr(0, n));
      BOOST_TEST(!message_of<ValueError>([&] { read_torch(path); }).empty());
    }
  }
  write_file(path, "not a model");
  BOOST_TEST(has(message_of<ValueError>([&] { read_torch(path); }), "is no file of torch.save, which begins with"));
  BOOST_TEST(has(message_of<catena::IOError>([&] { read_torch(folder / "none.pt"); }), "none.pt"));
}

// ---- safetensors by index ----
BOOST_AUTO_TEST_CASE(shards_of_others) {
  const std::string index = golden("sharded.safetensors.index.json");
  check_expected(read_safetensors(index), "state.pt");
  Network net, other;
  BOOST_TEST(load_safetensors(index, net, {.style = nn::KeyStyle::pytorch}).is_complete());
  load_torch(golden("state.pt"), other);
  BOOST_TEST(same_bits(net.bn.gamma->data(), other.bn.gamma->data()));
}

BOOST_AUTO_TEST_CASE(shards_are_written) {
  const TemporaryFolder folder("shards");
  Network saved, loaded;
  save_safetensors(folder / "m.safetensors", saved, {.max_shard_size = 1 << 20});  // one file is enough
  BOOST_TEST(!std::filesystem::exists(folder / "m.safetensors.index.json"));
  BOOST_TEST(std::filesystem::exists(folder / "m.safetensors"));
  save_safetensors(folder / "m.safetensors", saved, {.metadata = {{"who", "me"}}, .max_shard_size = 240});
  const nn::serializers::SafetensorsFile file(folder / "m.safetensors.index.json");
  BOOST_TEST(file.metadata().size() == 1u);
  BOOST_TEST(load_safetensors(folder / "m.safetensors.index.json", loaded).is_complete());
  BOOST_TEST(same_bits(saved.fc.W.data(), loaded.fc.W.data()));
  // 216 + 12 bytes of conv, then 3 x 12 and 12, 8 of bn and 192 of fc/W, then fc/b.
  std::size_t parts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path))
    parts += entry.path().filename().string().starts_with("m-0000") ? 1 : 0;
  BOOST_TEST(parts == 3u);
  BOOST_TEST(std::filesystem::exists(folder / "m-00003-of-00003.safetensors"));
  for (const auto& t : file.tensors()) BOOST_TEST(t.n_bytes <= 240u);
  save_safetensors(folder / "t.safetensors", saved, {.metadata = {{"fc/W", "a text"}}, .max_shard_size = 240});
  BOOST_TEST(load_safetensors(folder / "t.safetensors.index.json", loaded).is_complete());
  BOOST_TEST(has(message_of<ValueError>([&] { save_safetensors(folder / "n", saved, {.max_shard_size = 0}); }),
                 "max_shard_size is 0"));
}

BOOST_AUTO_TEST_CASE(hostile_indices) {
  const TemporaryFolder folder("index");
  const std::string path = folder / "m.safetensors.index.json";
  Network net;
  save_safetensors(folder / "part", net);
  const auto refused = [&](const std::string& text, const std::string& why) {
    write_file(path, text);
    const std::string message = message_of<ValueError>([&] { read_safetensors(path); });
    BOOST_TEST(has(message, why), message);
  };
  refused("{", "no JSON");
  refused("[]", "no weight_map");
  refused("{\"weight_map\": 3}", "no weight_map");
  refused("{\"weight_map\": {\"a\": 3}}", "the name of a file in the same folder is needed");
  refused("{\"weight_map\": {\"a\": \"../part\"}}", "the name of a file in the same folder is needed");
  refused("{\"weight_map\": {\"a\": \"/etc/passwd\"}}", "the name of a file in the same folder is needed");
  refused("{\"weight_map\": {\"a\": \"part\"}}", "the file part lacks the tensor a");
  refused("{\"weight_map\": {\"fc/W\": \"part\", \"fc/W\": \"part\"}}", "twice");
  refused("{\"weight_map\": {\"fc/W\": \"part\"}, \"weight_map\": {\"fc/W\": \"part\"}}", "twice");
  refused("{\"weight_map\": " + std::string(100, '[') + std::string(100, ']') + "}", "nested");
  write_file(path, "{\"weight_map\": {\"a\": \"none\"}}");
  BOOST_TEST(has(message_of<catena::IOError>([&] { read_safetensors(path); }), "none"));
  write_file(path, "{\"weight_map\": {\"fc/W\": \"part\"}}");  // other tensors are left out
  BOOST_TEST(read_safetensors(path).size() == 1u);
}

// ---- GGUF ----
BOOST_AUTO_TEST_CASE(gguf_files) {
  const GgufFile file(golden("model.gguf"));
  BOOST_TEST(file.metadata("general.architecture").text() == "llama");
  BOOST_TEST(file.metadata("llama.block_count").integer() == 2);
  BOOST_TEST(file.metadata("yes").boolean());
  BOOST_TEST(file.metadata("negative").integer() == -5);
  BOOST_TEST(file.metadata("half").number() == 0.5);
  BOOST_TEST(file.metadata("words").list().at(1).text() == "bc");
  BOOST_TEST(file.metadata("numbers").list().at(2).integer() == 3);
  BOOST_TEST(file.metadata("numbers").list().at(2).number() == 3);
  BOOST_TEST(has(message_of<catena::KeyError>([&] { file.metadata("none"); }), "no metadata none"));
  BOOST_TEST(has(message_of<catena::TypeError>([&] { file.metadata("yes").text(); }), "it is a bool, not a text"));
  BOOST_TEST(
      has(message_of<catena::TypeError>([&] { file.metadata("half").integer(); }), "it is a number, not an integer"));
  ArrayMap arrays;
  for (const auto& t : file.tensors()) {
    const auto a = file.read(t.name);
    if (a->dtype) arrays[t.name] = autograd::from_host(a->data.data(), a->shape, *a->dtype);
    else BOOST_TEST(t.type_name == "Q4_1");
  }
  check_expected(arrays, "model.gguf");
  BOOST_TEST(arrays.at("x.BF16").dtype() == Dtype::bfloat16);
  BOOST_TEST(arrays.at("x.Q4_0").dtype() == Dtype::float32);
  BOOST_TEST(has(message_of<catena::TypeError>([&] { read_gguf(golden("model.gguf")); }),
                 "the tensor x.Q4_1 has the element type Q4_1, which no array can hold"));
}

BOOST_AUTO_TEST_CASE(hostile_gguf_files) {
  const TemporaryFolder folder("gguf");
  const std::string path = folder / "m.gguf", content = file_content(golden("model.gguf"));
  const auto refused = [&](const std::string& bytes, const std::string& why) {
    write_file(path, bytes);
    const std::string message = message_of<ValueError>([&] { GgufFile file(path); });
    BOOST_TEST(has(message, why), message);
  };
  std::uint64_t end = 0;  // of the last tensor; fill bytes may follow
  for (const auto& t : GgufFile(golden("model.gguf")).tensors()) end = std::max(end, t.position + t.n_bytes);
  for (std::size_t n = 0; n < end; n += 61) refused(content.substr(0, n), "m.gguf");
  refused("GGUX" + content.substr(4), "no GGUF file");
  refused("GGUF\x09" + content.substr(5), "version 9");
  const auto file = [](std::uint64_t tensors, std::uint64_t entries, const std::string& rest) {
    std::string text = "GGUF";
    append(text, std::uint32_t(3));
    append(text, tensors);
    append(text, entries);
    return text + rest;
  };
  refused(file(1ull << 60, 0, ""), "a list of tensors of length");
  refused(file(0, 1ull << 60, ""), "metadata of length");
  std::string entry;
  append_text(entry, "k");
  std::string unknown = entry;
  append(unknown, std::uint32_t(77));
  refused(file(0, 1, unknown), "unknown type 77");
  std::string list = entry;
  append(list, std::uint32_t(9));
  append(list, std::uint32_t(0));
  append(list, std::uint64_t(1) << 50);
  refused(file(0, 1, list), "a list of length");
  std::string deep = entry;
  append(deep, std::uint32_t(9));
  for (int i = 0; i < 10; ++i) append(deep, std::uint32_t(9)), append(deep, std::uint64_t(1));
  refused(file(0, 1, deep), "nested more than");
  const auto tensor = [](const std::string& name, std::uint64_t length, std::uint32_t type, std::uint64_t at) {
    std::string text;
    append_text(text, name);
    append(text, std::uint32_t(1));
    append(text, length);
    append(text, type);
    append(text, at);
    return text;
  };
  const std::string data(4096, '\0');
  refused(file(2, 0, tensor("a", 32, 0, 0) + tensor("b", 32, 0, 64) + data), "starts within the tensor a");
  refused(file(2, 0, tensor("a", 8, 0, 0) + tensor("a", 8, 0, 32) + data), "the tensor a twice");
  refused(file(1, 0, tensor("a", 8, 0, 8) + data), "no multiple of 32");
  refused(file(1, 0, tensor("a", 1 << 20, 0, 0) + data), "but the file ends at");
  refused(file(1, 0, tensor("a", 1ull << 62, 0, 0) + data), "does not fit 63 bits");
  refused(file(1, 0, tensor("a", 33, 8, 0) + data), "no whole blocks of Q8_0");
  std::string alignment;
  append_text(alignment, "general.alignment");
  append(alignment, std::uint32_t(8));
  append_text(alignment, "wide");
  refused(file(0, 1, alignment), "general.alignment is no integer");
  std::string crowded;  // every tensor is followed by an empty one, which lies where the next one begins
  for (int i = 0; i < 20; ++i)
    for (const std::uint64_t length : {0, 8})
      crowded += tensor("t" + std::to_string(i) + "/" + std::to_string(length), length, 0, std::uint64_t(32 * i));
  write_file(path, file(40, 0, crowded + data));
  BOOST_TEST(GgufFile(path).tensors().size() == 40u);
  write_file(path, file(1, 0, tensor("a", 33, 99, 0) + data));  // an unknown type is no error until it is read
  BOOST_TEST(GgufFile(path).tensors().at(0).type_name == "type 99");
}

BOOST_AUTO_TEST_SUITE_END()
