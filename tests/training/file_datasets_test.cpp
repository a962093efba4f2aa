// Datasets of files: folders of images, zip archives, tables, lines of text, records; packed sequences.
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/record_file.h>
#include <catena/kernels/formats/zip.h>
#include <catena/tests/support/missing_parts.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/datasets.h>
#include <catena/training/iterator.h>
#include <catena/training/parallel/iterators.h>
#include <catena/training/transforms.h>

using namespace test;
using namespace training;
namespace fs = std::filesystem;
using Doubles = std::vector<double>;

namespace {

template <class F> void says(const std::string& text, F f) {
  const std::string message = message_of<catena::Error>(f);
  BOOST_TEST(has(message, text), message);
}
Array grey(float level) { return floats({level, level}, {1, 2}); }
std::string text_of(const Array& a) {
  std::string text;
  for (const double v : values(a)) text += char(int(v));
  return text;
}
void write_zip(const std::string& path, const std::vector<std::pair<std::string, std::string>>& members) {
  catena::AtomicFile file("test", path);
  catena::ZipWriter zip(file);
  for (const auto& [name, content] : members) {
    zip.begin(name, catena::ZipMethod::deflated).write(content.data(), content.size());
    zip.end();
  }
  zip.finish();
  file.commit();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(file_datasets)

BOOST_AUTO_TEST_CASE(folders_of_images) {
  if (lacks(datasets::image_codecs().png, "PNG")) return;
  const TemporaryFolder folder("image_folder");
  for (const char* name : {"b/2.png", "b/10.png", "a/deep/er/x.PNG", "c/z.png"}) {
    fs::create_directories((folder.path / name).parent_path());
    datasets::write_image(folder / name, grey(float(name[2])));
  }
  write_file(folder / "b/notes.txt", "no image");
  write_file(folder / "readme", "no class");
  const ImageFolder images(folder.path.string());
  BOOST_TEST(images.classes() == (std::vector<std::string>{"a", "b", "c"}), boost::test_tools::per_element());
  BOOST_TEST(images.size() == 4);
  Doubles labels, levels;
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto [image, label] = images[i];
    BOOST_TEST((image.shape() == Shape({3, 1, 2}) && image.dtype() == Dtype::uint8 && label.dtype() == Dtype::int32));
    labels.push_back(values(label)[0]);
    levels.push_back(values(image)[0]);
  }
  BOOST_TEST(labels == (Doubles{0, 1, 1, 2}), boost::test_tools::per_element());
  BOOST_TEST(levels == (Doubles{'d', '1', '2', 'z'}), boost::test_tools::per_element());  // in the order of paths
  BOOST_TEST(has(images.pairs()[1].first, "b/10.png"));
  BOOST_TEST(values(images[-1].values[1])[0] == 2);
  BOOST_CHECK_THROW(images[4], catena::IndexError);
  const ImageFolder other(folder.path.string(), {.dtype = Dtype::float64, .label_dtype = Dtype::int64});
  BOOST_TEST((other[0].values[0].dtype() == Dtype::float64 && other[0].values[1].dtype() == Dtype::int64));

  const ImageFolder small(folder.path.string(), {.transform = transforms::Resize({4, 5})});
  BOOST_TEST((small[3].values[0].shape() == Shape{3, 4, 5}));
  BOOST_TEST(values(small[3].values[1])[0] == 2);

  write_file(folder / "c/z.png", "damaged");
  says("z.png", [&] { images[3]; });
  fs::create_directories(folder.path / "empty");
  says("empty\" has no images", [&] { ImageFolder(folder.path.string()); });
  says("has no folders", [&] { ImageFolder(folder / "a/deep/er"); });
  BOOST_CHECK_THROW(ImageFolder(folder / "nowhere"), catena::IOError);
}

BOOST_AUTO_TEST_CASE(zipped_images) {
  if (lacks(datasets::image_codecs().png, "PNG")) return;
  const TemporaryFolder folder("zipped");
  const auto png = [&](float level) {
    datasets::write_image(folder / "one.png", grey(level));
    return file_content(folder / "one.png");
  };
  write_zip(folder / "a.zip", {{"x/", ""}, {"x/2.png", png(2)}, {"x/1.png", png(1)}});
  write_zip(folder / "b.zip", {{"3.png", png(3)}});
  const ZippedImageDataset one(folder / "a.zip");
  BOOST_TEST(one.size() == 2);
  BOOST_TEST((one[0].values[0].shape() == Shape({3, 1, 2}) && one[0].values[0].dtype() == Dtype::float32));
  const MultiZippedImageDataset both({folder / "a.zip", folder / "b.zip"}, {.dtype = Dtype::uint8});
  Doubles levels;
  for (const Example& e : both.slice({}, {})) levels.push_back(values(e.values[0])[0]);
  BOOST_TEST(levels == (Doubles{2, 1, 3}), boost::test_tools::per_element());
  BOOST_TEST((both[0].values[0].dtype() == Dtype::uint8));

  const LabeledZippedImageDataset labeled(folder / "a.zip", {{"x/1.png", 7}, {"x/2.png", 8}},
                                          {.label_dtype = Dtype::int64});
  BOOST_TEST((values(labeled[0].values[0])[0] == 1 && values(labeled[0].values[1])[0] == 7));
  BOOST_TEST((labeled[1].values[1].dtype() == Dtype::int64));
  write_file(folder / "list.txt", "x/2.png 5\nx/1.png 6\n");
  const LabeledZippedImageDataset listed(folder / "a.zip", folder / "list.txt");
  BOOST_TEST((values(listed[0].values[0])[0] == 2 && values(listed[1].values[1])[0] == 6));

  says("the archive has no member \"y.png\"", [&] { LabeledZippedImageDataset(folder / "a.zip", {{"y.png", 0}}); });
  write_file(folder / "list.txt", "x/2.png 5\nx/1.png six\n");
  says("line 2 of", [&] { LabeledZippedImageDataset(folder / "a.zip", folder / "list.txt"); });
  write_zip(folder / "bad.zip", {{"n.png", "not a picture"}});
  says("bad.zip/n.png\": it is neither a PNG nor a JPEG file", [&] { ZippedImageDataset(folder / "bad.zip")[0]; });
  write_file(folder / "no.zip", "no archive");
  says("no.zip", [&] { ZippedImageDataset(folder / "no.zip"); });
  says("there are no archives", [&] { ZippedImageDataset(std::vector<std::string>{}); });
}

BOOST_AUTO_TEST_CASE(tables) {
  const TemporaryFolder folder("csv");
  const std::string path = folder / "t.csv";
  write_file(path, "\xef\xbb\xbflength, width,kind\n1.5,2,rose\r\n\n-3e2 , 4 ,\"day, \"\"o\"\" lily\"\n5,6,rose");
  const CsvDataset flowers(path, {.target = "kind"});
  BOOST_TEST(flowers.size() == 3);
  BOOST_TEST(flowers.columns() == (std::vector<std::string>{"length", "width"}), boost::test_tools::per_element());
  BOOST_TEST(flowers.classes() == (std::vector<std::string>{"day, \"o\" lily", "rose"}),
             boost::test_tools::per_element());
  const auto [x, t] = flowers[1];
  BOOST_TEST(values(x) == (Doubles{-300, 4}), boost::test_tools::per_element());
  BOOST_TEST((values(t)[0] == 0 && t.dtype() == Dtype::int32 && x.dtype() == Dtype::float32 && t.shape() == Shape{}));
  const std::vector<std::int64_t> indices{2, 0};
  BOOST_TEST(values(flowers.get_batch(indices)->values[0]) == (Doubles{5, 6, 1.5, 2}),
             boost::test_tools::per_element());

  // Chosen columns in another order, only features, and targets that are numbers.
  const CsvDataset chosen(path, {.columns = {"width", "length"}, .dtype = Dtype::float64});
  BOOST_TEST(values(chosen[0].values[0]) == (Doubles{2, 1.5}), boost::test_tools::per_element());
  BOOST_TEST((chosen[0].values.size() == 1 && chosen[0].values[0].dtype() == Dtype::float64));
  const CsvDataset regression(path, {.target = "length", .columns = {"width"}});
  BOOST_TEST((values(regression[1].values[1])[0] == -300 && regression[1].values[1].dtype() == Dtype::float32));
  BOOST_TEST(regression.classes().empty());
  const CsvDataset integers(path, {.target = "width", .columns = {"length"}});
  BOOST_TEST((integers[2].values[1].dtype() == Dtype::int32 && values(integers[2].values[1])[0] == 6));
  const CsvDataset wide(path, {.target = "width", .columns = {"length"}, .target_dtype = Dtype::float64});
  BOOST_TEST((wide[0].values[1].dtype() == Dtype::float64));

  write_file(path, "1|2|\n4||6\n");
  const CsvDataset plain(path, {.delimiter = '|', .header = false, .missing = -1});
  BOOST_TEST(plain.columns() == (std::vector<std::string>{"0", "1", "2"}), boost::test_tools::per_element());
  BOOST_TEST(values(concat_examples(plain.slice({}, {})).values[0]) == (Doubles{1, 2, -1, 4, -1, 6}),
             boost::test_tools::per_element());
  const CsvDataset nan(path, {.delimiter = '|', .header = false, .missing = std::numeric_limits<double>::quiet_NaN()});
  BOOST_TEST(std::isnan(values(nan[0].values[0])[2]));
  write_file(path, "a\tb\n1\t2\n");
  BOOST_TEST(values(CsvDataset(path, {.delimiter = '\t'})[0].values[0]) == (Doubles{1, 2}),
             boost::test_tools::per_element());
  write_file(path, "a,b\n");
  BOOST_TEST(CsvDataset(path).size() == 0);

  const auto refused = [&](const std::string& content, const std::string& why, const CsvOptions& options = {}) {
    write_file(path, content);
    const std::string message = message_of<catena::Error>([&] { CsvDataset(path, options); });
    BOOST_TEST((has(message, why) && has(message, "t.csv")), message);
  };
  refused("a,b\n1,2\n3\n", "line 3 has 1 cells, not 2");
  refused("a,b\n\n1,2\n3,x\n", "line 4, column \"b\": \"x\" is no number");
  refused("a,b\n1,\n", "line 2, column \"b\": \"\" is no number; `missing` gives");
  refused("a,b\n1,\"2\n3,4\n", "line 2: the quotes of cell 2 do not end");
  refused("a,b\n1,\"2\"3\n", "line 2: text follows the quotes of cell 2");
  refused("a,b\n\"1\n\",2\n\n3,4,5\n", "line 5 has 3 cells");  // a quoted line end counts
  refused("a,b\n1,2\n", "there is no column \"c\" (there is: a, b)", {.target = "c"});
  refused("a,b\n1,2\n3,\n", "line 3, column \"b\": the target is empty", {.target = "b"});
  refused("a,b,a\n1,2,3\n", "several columns have the name \"a\" (there is: a, b, a)");
  refused("a,b\n1,2\n3,3000000000\n", "line 3, column \"b\": 3000000000 does not fit int32; set target_dtype",
          {.target = "b"});
  refused("a,b\n1,-1\n", "line 2, column \"b\": -1 does not fit uint64; set target_dtype",
          {.target = "b", .target_dtype = Dtype::uint64});
  write_file(path, "a,b\n1,9007199254740993\n");  // 2^53 + 1, which float64 does not hold
  const CsvDataset large(path, {.target = "b", .target_dtype = Dtype::int64});
  BOOST_TEST(autograd::to_vector<std::int64_t>(large[0].values[1])[0] == 9007199254740993);
  BOOST_CHECK_THROW(CsvDataset(folder / "nowhere.csv"), catena::IOError);
  BOOST_CHECK_THROW(CsvDataset(path, {.columns = {"z"}}), catena::KeyError);
}

BOOST_AUTO_TEST_CASE(lines_of_text) {
  const TemporaryFolder folder("text");
  write_file(folder / "de", "eins\r\n\nzwei drei\nvier");
  write_file(folder / "en", "one\n\ntwo three\nfour\n");
  const TextDataset one(folder / "de");
  BOOST_TEST(one.size() == 4);
  BOOST_TEST((text_of(one[0].values[0]) == "eins" && one[0].values[0].dtype() == Dtype::uint8));
  BOOST_TEST((text_of(one[-1].values[0]) == "vier" && one[1].values[0].shape() == Shape{0}));
  BOOST_CHECK_THROW(one.lines(4), catena::IndexError);

  const TextDataset pairs({folder / "de", folder / "en"});
  const auto [de, en] = pairs[2];
  BOOST_TEST((text_of(de) == "zwei drei" && text_of(en) == "two three"));
  const TextDataset kept({folder / "de", folder / "en"}, {.filter = [](const std::vector<std::string>& lines) {
                           return !lines[0].empty() && lines[1] != "one";
                         }});
  BOOST_TEST(kept.size() == 2);
  BOOST_TEST(kept.lines(1) == (std::vector<std::string>{"vier", "four"}), boost::test_tools::per_element());
  BOOST_TEST(text_of(kept[0].values[1]) == "two three");
  const TextDataset none(folder / "de", {.filter = [](const std::vector<std::string>&) { return false; }});
  BOOST_TEST(none.size() == 0);

  const TextDataset lengths(folder / "en", {.convert = [](std::string_view line) {
                              catena::check<catena::ValueError>(!line.empty(), "convert", "an empty line");
                              return Array(autograd::arrays::full({}, double(line.size()), Dtype::int64));
                            }});
  BOOST_TEST(values(lengths[2].values[0])[0] == 9);
  says("en\", line 2: convert: an empty line", [&] { lengths[1]; });
  BOOST_CHECK_THROW(lengths[1], catena::ValueError);
  write_file(folder / "short", "a\nb\n");
  says("short\" has 2 lines, but", [&] { TextDataset({folder / "de", folder / "short"}); });
  write_file(folder / "empty", "");
  BOOST_TEST(TextDataset(folder / "empty").size() == 0);
  BOOST_CHECK_THROW(TextDataset(folder / "nowhere"), catena::IOError);
  says("there are no files", [&] { TextDataset(std::vector<std::string>{}); });
  // Lines across the parts in which the file is read.
  std::string text;
  for (int i = 0; i < 300000; ++i) text += std::to_string(i) + "\n";
  write_file(folder / "long", text);
  const TextDataset many(folder / "long");
  BOOST_TEST(many.size() == 300000);
  for (const std::int64_t i : {0, 150000, 177777, 299999}) BOOST_TEST(many.lines(i)[0] == std::to_string(i));
}

BOOST_AUTO_TEST_CASE(records) {
  const TemporaryFolder folder("records");
  const std::string path = folder / "a.records";
  {
    RecordWriter writer(path);
    writer.write({floats({1, 2, 3, 4}, {2, 2}), 5});
    writer.write(Example({{"image", autograd::transpose(floats({1, 2, 3, 4}, {2, 2}))}, {"flag", true}}));
    writer.write(Example(autograd::arrays::zeros({0, 3}, Dtype::float16)));
    BOOST_TEST(!fs::exists(path));  // complete or not at all
    writer.close();
    writer.close();
    says("the file is closed", [&] { writer.write(Example(1)); });
  }
  const RecordDataset data(path);
  BOOST_TEST(data.size() == 3);
  BOOST_TEST(values(data[0].values[0]) == (Doubles{1, 2, 3, 4}), boost::test_tools::per_element());
  BOOST_TEST((!data[0].is_map() && data[0].values[1].dtype() == Dtype::int64 && data[0].values[1].shape() == Shape{}));
  const Example map = data[1];
  BOOST_TEST(map.names == (std::vector<std::string>{"image", "flag"}), boost::test_tools::per_element());
  BOOST_TEST(values(map.values[0]) == (Doubles{1, 3, 2, 4}), boost::test_tools::per_element());
  BOOST_TEST((map.values[1].dtype() == Dtype::bool_ && values(map.values[1])[0] == 1));
  BOOST_TEST((data[2].values[0].shape() == Shape({0, 3}) && data[2].values[0].dtype() == Dtype::float16));

  write_records(folder / "b.records", TupleDataset({floats({7, 8}, {2}), ints({1, 2})}));
  const RecordDataset both({path, folder / "b.records"});
  BOOST_TEST((both.size() == 5 && values(both[3].values[0])[0] == 7 && values(both[-1].values[1])[0] == 2));
  const RecordDataset copy = both;  // shares the files
  BOOST_TEST(values(copy[4].values[0])[0] == 8);
  { const RecordWriter abandoned(folder / "c.records"); }
  BOOST_TEST(!fs::exists(folder / "c.records"));
  RecordWriter(folder / "none.records").close();
  BOOST_TEST(RecordDataset(folder / "none.records").size() == 0);

  RecordWriter writer(folder / "d.records");
  says("has no values", [&] { writer.write(Example()); });
  says("a null array", [&] { writer.write(Example(Array())); });
  says("a map has the name \"0\"", [&] { writer.write(Example({{"0", 1}})); });
  BOOST_CHECK_THROW(RecordDataset(folder / "nowhere"), catena::IOError);
  says("there are no files", [&] { RecordDataset(std::vector<std::string>{}); });
}

// The framing by TensorFlow's definition, with the checksum computed bit by bit.
BOOST_AUTO_TEST_CASE(framing_and_damage) {
  const auto crc = [](const std::string& bytes) {
    std::uint32_t c = ~0u;
    for (const char b : bytes) {
      c ^= static_cast<unsigned char>(b);
      for (int k = 0; k < 8; ++k) c = (c >> 1) ^ (0x82f63b78u & (0u - (c & 1)));
    }
    c = ~c;
    c = ((c >> 15) | (c << 17)) + 0xa282ead8u;
    std::string text(4, '\0');
    std::memcpy(text.data(), &c, 4);
    return text;
  };
  BOOST_TEST(catena::crc32c("123456789") == 0xe3069283u);  // the check value of CRC-32C
  const std::string length("\3\0\0\0\0\0\0\0", 8), expected = length + crc(length) + "abc" + crc("abc");
  BOOST_TEST((catena::framed_record("abc") == expected));

  const TemporaryFolder folder("damage");
  const std::string path = folder / "r";
  write_records(path, TupleDataset({ints({1, 2}), ints({3, 4})}));
  const std::string good = file_content(path);
  const std::size_t first = good.size() / 2;  // both records have one size
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = char(bad[i] ^ 0x10);
    write_file(path, bad);
    const std::string which = i < first ? "record 0" : "record 1";
    const std::string message = message_of<catena::ValueError>([&] {
      const RecordDataset data(path);
      data[i < first ? 1 : 0];  // the other one is whole
      data[i < first ? 0 : 1];
    });
    BOOST_TEST((has(message, "damage") && has(message, which)), message);
  }
  for (std::size_t n = 1; n < good.size(); ++n) {
    write_file(path, good.substr(0, n));
    if (n == first) continue;
    const std::string message = message_of<catena::ValueError>([&] { RecordDataset{path}; });
    BOOST_TEST(has(message, n < first ? "record 0: the file ends" : "record 1: the file ends"), message);
  }
  // A length that the file cannot have is refused before memory is allocated for it.
  const std::string huge("\xff\xff\xff\xff\xff\xff\xff\x7f", 8);
  write_file(path, huge + crc(huge) + "abcdefgh");
  says("the file ends within its 9223372036854775807 bytes", [&] { RecordDataset{path}; });
  // Whole records that are no examples.
  write_file(path, catena::framed_record("no archive"));
  says("record 0", [&] { RecordDataset{path}[0]; });
}

BOOST_AUTO_TEST_CASE(packed_sequences) {
  const auto sequence = [](int n, float first) {
    std::vector<float> v;
    for (int i = 0; i < n; ++i) v.push_back(first + float(i));
    return floats(v, {n});
  };
  // 5 goes into the first row of 6, 4 into a second one, 2 into the second, 1 into the first.
  const Example rows = pack_sequences({sequence(5, 10), sequence(4, 20), sequence(2, 30), sequence(1, 40)}, 6, -1);
  BOOST_TEST(rows.names == (std::vector<std::string>{"values", "segments", "positions"}),
             boost::test_tools::per_element());
  BOOST_TEST(values(rows.values[0]) == (Doubles{10, 11, 12, 13, 14, 40, 20, 21, 22, 23, 30, 31}),
             boost::test_tools::per_element());
  BOOST_TEST(values(rows.values[1]) == (Doubles{1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 2, 2}), boost::test_tools::per_element());
  BOOST_TEST(values(rows.values[2]) == (Doubles{0, 1, 2, 3, 4, 0, 0, 1, 2, 3, 0, 1}), boost::test_tools::per_element());
  const Example padded = pack_sequences({floats({1, 2, 3, 4}, {2, 2})}, 3, -1);
  BOOST_TEST((padded.values[0].shape() == Shape({1, 3, 2})));
  BOOST_TEST(values(padded.values[0]) == (Doubles{1, 2, 3, 4, -1, -1}), boost::test_tools::per_element());
  BOOST_TEST(values(padded.values[1]) == (Doubles{1, 1, 0}), boost::test_tools::per_element());
  const Example whole = pack_sequences({ints({1, 2}), ints({3, 4})}, 2);
  BOOST_TEST((whole.values[0].shape() == Shape({2, 2}) && whole.values[0].dtype() == Dtype::int32));

  says("there are no sequences", [&] { pack_sequences({}, 3); });
  says("sequence 1 has 4 elements; a row has 1 to 3", [&] { pack_sequences({ints({1}), ints({1, 2, 3, 4})}, 3); });
  says("sequence 0 has 0 elements", [&] { pack_sequences({ints({})}, 3); });
  says("sequence 1 has the shape", [&] { pack_sequences({sequence(1, 0), floats({1, 2}, {1, 2})}, 3); });
  says("sequence 1 has the shape (1,) and is int32", [&] { pack_sequences({sequence(1, 0), ints({1})}, 3); });
  says("sequence 0 is null", [&] { pack_sequences({Array()}, 3); });
}

BOOST_AUTO_TEST_SUITE_END()
