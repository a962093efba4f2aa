// Logs that are appended: event files against bytes of TensorBoard's own library, lines of JSON, resumed and killed
// trainings.
#include <catena/training/extensions/interval_logs.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/datasets/image_file.h>

using namespace test;
using namespace training;

namespace {

// CRC-32C, bit by bit (RFC 3720, appendix B.4).
std::uint32_t checksum(const std::string& bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char b : bytes) {
    crc ^= static_cast<std::uint8_t>(b);
    for (int k = 0; k < 8; ++k) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x82f63b78u : crc >> 1;
  }
  return ~crc;
}
template <class T> T number_at(const std::string& text, std::size_t at) {
  T value;
  std::memcpy(&value, text.data() + at, sizeof value);
  return value;
}
std::uint32_t masked(const std::string& bytes) {
  const std::uint32_t crc = checksum(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

// The events of a file without their times, which are the first 9 bytes; checks lengths and checksums.
std::vector<std::string> events(const std::string& path) {
  const std::string file = file_content(path);
  std::vector<std::string> all;
  for (std::size_t at = 0; at < file.size();) {
    BOOST_REQUIRE(at + 16 <= file.size());
    const auto length = std::size_t(number_at<std::uint64_t>(file, at));
    BOOST_TEST(number_at<std::uint32_t>(file, at + 8) == masked(file.substr(at, 8)));
    const std::string data = file.substr(at + 12, length);
    BOOST_TEST(number_at<std::uint32_t>(file, at + 12 + length) == masked(data));
    BOOST_TEST(data[0] == '\x09');
    BOOST_TEST(number_at<double>(data, 1) > 1.6e9);
    all.push_back(data.substr(9));
    at += 16 + length;
  }
  return all;
}
std::string hex(const std::string& bytes) {
  std::string text;
  for (const char b : bytes)
    for (const int shift : {4, 0}) text += "0123456789abcdef"[(static_cast<std::uint8_t>(b) >> shift) & 15];
  return text;
}

// Reports "value" = iteration until `end`; resumes from a file if there is one.
template <class Log> void train(const std::string& folder, double end, Log log, bool resume = false) {
  FakeUpdater updater(2);
  Trainer trainer(updater, {end, iteration}, folder);
  trainer.extend([&](Trainer& t) { t.observation().set("value", double(t.updater().iteration())); },
                 {.name = "report", .priority = PRIORITY_WRITER});
  trainer.extend(std::move(log));
  if (resume) nn::serializers::load_npz(folder + "/t.npz", trainer);
  trainer.run();
  nn::serializers::save_npz(folder + "/t.npz", trainer);
}
std::vector<std::string> lines(const std::string& path) {
  std::vector<std::string> all;
  const std::string text = file_content(path);
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != text.npos; at = end + 1)
    all.push_back(text.substr(at, end - at));
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(interval_logs)

BOOST_AUTO_TEST_CASE(check_value_of_the_checksum) { BOOST_TEST(checksum("123456789") == 0xe3069283u); }

// The hexadecimal bytes are written by TensorBoard 2.21's classes of these messages.
BOOST_AUTO_TEST_CASE(events_of_tensorboard) {
  const TemporaryFolder folder("events");
  std::string path;
  const Array picture = floats({0, 10, 20, 30, 300, -5}, {2, 3});
  {
    SummaryWriter writer(folder / "a/b");
    path = writer.path();
    writer.add_scalar("loss", 0.5, 7);
    writer.add_histogram("w", floats({1, 2, 5, 2}, {2, 2}), 300, 4);
    writer.add_text("t", "hi", 1);
    writer.add_image("i", picture, 2);
  }
  const std::vector<std::string> all = events(path);
  BOOST_REQUIRE(all.size() == 5u);
  BOOST_TEST(hex(all[0]) == "1a0d627261696e2e4576656e743a32");
  BOOST_TEST(hex(all[1]) == "10072a0d0a0b0a046c6f7373150000003f");
  BOOST_TEST(hex(all[2]) ==
             "10ac022a8a010a87010a01772a810109000000000000f03f110000000000001440190000000000001040210000000000002440"
             "2900000000000041403228000000000000f03f00000000000000400000000000000840000000000000104000000000000014403a"
             "280000000000000000000000000000f03f00000000000000400000000000000000000000000000f03f");
  BOOST_TEST(hex(all[3]) == "10012a1d0a1b0a0174420c0807120412020801420268694a080a060a0474657874");
  datasets::write_image(folder / "same.png", picture);
  const std::string png = file_content(folder / "same.png");
  BOOST_TEST(has(all[4], png));
  BOOST_TEST(hex(all[4]).starts_with("1002"));
  BOOST_TEST(has(hex(all[4]), "0a01692"));         // the tag, and an image
  BOOST_TEST(has(hex(all[4]), "08021003180322"));  // height 2, width 3, colours 3, the file
}

BOOST_AUTO_TEST_CASE(members_of_pytorch) {
  const TemporaryFolder folder("events");
  std::string path;
  {
    SummaryWriter writer({.log_dir = folder / "runs/", .comment = "first"});
    path = writer.path();
    BOOST_TEST(path.starts_with(folder / "runs/first/events.out.tfevents."));
    writer.add_scalars("loss", {{"train", 0.5}, {"test", 2}}, 3);
    writer.add_scalar("norm", Variable(floats({0.5f}, {})), 7);
    writer.add_scalar("norm", 0.5, {.global_step = 7});
    writer.add_scalar("norm", Variable(floats({0.5f}, {})), {.global_step = 7});
    writer.add_hparams({{"lr", 0.25}, {"bsize", 4}, {"nesterov", true}, {"name", "adam"}}, {{"accuracy", 0.5}});
    writer.add_histogram("w", Variable(floats({1, 2}, {2})), 1);
    writer.flush();
    writer.close();
  }
  const std::vector<std::string> all = events(path);
  BOOST_REQUIRE(all.size() == 9u);
  // step, summary, value, tag, simple_value
  BOOST_TEST(hex(all[1]) == "10032a130a110a0a6c6f73732f747261696e150000003f");
  BOOST_TEST(hex(all[2]) == "10032a120a100a096c6f73732f746573741500000040");
  for (const std::size_t k : {3u, 4u, 5u}) BOOST_TEST(hex(all[k]) == "10072a0d0a0b0a046e6f726d150000003f");
  for (const char* row : {"| lr | 0.25 |\n", "| bsize | 4 |\n", "| nesterov | True |\n", "| name | adam |\n"})
    BOOST_TEST(has(all[6], row));
  BOOST_TEST(has(all[7], "accuracy"));
  BOOST_TEST(has(all[8], "w"));
}

// Images with values 0 to 1, as ToTensor gives them, are those with values 0 to 255.
BOOST_AUTO_TEST_CASE(floating_images) {
  const TemporaryFolder folder("events");
  SummaryWriter writer(folder / "a");
  const Array unit = floats({0, 1, 0.2f, 0.4f}, {1, 2, 2}), bytes = floats({0, 255, 51, 102}, {1, 2, 2});
  writer.add_image("i", unit, 1);
  writer.add_image("i", bytes, 1);
  writer.add_images("i", autograd::reshape(unit, {1, 1, 2, 2}), 1);
  writer.add_images("i", autograd::reshape(bytes, {1, 1, 2, 2}), 1);
  const std::vector<std::string> all = events(writer.path());
  BOOST_REQUIRE(all.size() == 5u);
  datasets::write_image(folder / "same.png", bytes);
  BOOST_TEST(has(all[1], file_content(folder / "same.png")));
  BOOST_TEST(hex(all[1]) == hex(all[2]));
  BOOST_TEST(hex(all[3]) == hex(all[4]));
  // A dark image, whose bytes are 0 and 1, is not taken for one with values 0 to 1.
  const Array dark = floats({0, 1 / 255.0f, 0, 0}, {1, 1, 2, 2});
  SummaryWriter again(folder / "b");
  again.add_images("i", dark, 1);
  datasets::write_image(folder / "dark.png", datasets::image_grid(dark * 255.0));
  BOOST_TEST(has(events(again.path()).at(1), file_content(folder / "dark.png")));
}

BOOST_AUTO_TEST_CASE(histograms_at_the_edges) {
  const TemporaryFolder folder("events");
  SummaryWriter writer(folder.path.string());
  writer.add_histogram("equal", floats({3, 3}, {2}), 0);
  writer.add_histogram("one", floats({-1}, {1}), 0, 1);
  BOOST_TEST(events(writer.path()).size() == 3u);
  const auto text = [](auto f) { return message_of<catena::ValueError>(f); };
  BOOST_TEST(text([&] { writer.add_histogram("x", floats({}, {0}), 0); }) ==
             "add_histogram: the array of shape (0,) has no elements");
  BOOST_TEST(text([&] {
               writer.add_histogram("x", floats({1, NAN}, {2}), 0);
             }) == "add_histogram: an element is nan; all must be finite");
  BOOST_TEST(text([&] { writer.add_histogram("x", floats({1}, {1}), 0, 0); }) ==
             "add_histogram: bins is 0 and must be at least 1");
  BOOST_TEST(has(text([&] { writer.add_image("x", floats({1}, {1}), 0); }), "add_image: an image has the shape"));
  write_file(folder / "file", "");
  BOOST_CHECK_THROW(SummaryWriter(folder / "file/below"), catena::IOError);
}

BOOST_AUTO_TEST_CASE(means_for_tensorboard) {
  const TemporaryFolder folder("events");
  train(folder.path.string(), 4, TensorBoardLog());
  std::string path;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path / "tensorboard")) path = entry.path();
  const std::vector<std::string> all = events(path);
  BOOST_REQUIRE(all.size() == 7u);  // the version; value, epoch and elapsed_time of two epochs
  // step 2, the mean of 1 and 2; step 4, that of 3 and 4
  BOOST_TEST(hex(all[1]) == "10022a0e0a0c0a0576616c7565150000c03f");
  BOOST_TEST(hex(all[4]) == "10042a0e0a0c0a0576616c75651500006040");
  TensorBoardLog outside;
  BOOST_CHECK_THROW(outside.writer(), catena::RuntimeError);
}

BOOST_AUTO_TEST_CASE(lines_of_json) {
  const TemporaryFolder folder("jsonl");
  train(folder.path.string(), 4, JsonLinesLog());
  const std::vector<std::string> all = lines(folder / "log.jsonl");
  BOOST_REQUIRE(all.size() == 2u);
  const Log entry = log_from_json("[" + all[1] + "]", "test");
  BOOST_TEST(entry[0].number("value") == 3.5);
  BOOST_TEST(entry[0].at("epoch").integer() == 2);
  BOOST_TEST(entry[0].at("iteration").integer() == 4);
  BOOST_TEST(entry[0].contains("elapsed_time"));
}

BOOST_AUTO_TEST_CASE(keys_and_triggers) {
  const TemporaryFolder folder("jsonl");
  train(folder.path.string(), 3, JsonLinesLog("every", {.keys = {{"other"}}, .trigger = {1, iteration}}));
  const std::vector<std::string> all = lines(folder / "every");
  BOOST_TEST(all.size() == 3u);
  BOOST_TEST(!has(all[0], "value"));
}

// A resumed training goes on after the entries of its snapshot; later entries and half a line are removed.
BOOST_AUTO_TEST_CASE(a_resumed_log) {
  const TemporaryFolder folder("jsonl"), whole("jsonl_whole");
  const auto log = [] { return JsonLinesLog("log", {.trigger = {1, iteration}}); };
  train(folder.path.string(), 3, log());
  write_file(folder / "log", file_content(folder / "log") + "{\"value\": 9.0, \"iteration\": 9}\n{\"value\": 1");
  train(folder.path.string(), 5, log(), true);
  train(whole.path.string(), 5, log());
  const auto values_of = [](const std::string& path) {
    std::vector<double> values;
    for (const std::string& line : lines(path))
      values.push_back(log_from_json("[" + line + "]", "test")[0].number("value"));
    return values;
  };
  const std::vector<double> expected = {1, 2, 3, 4, 5};
  BOOST_TEST(values_of(whole / "log") == expected, boost::test_tools::per_element());
  BOOST_TEST(values_of(folder / "log") == expected, boost::test_tools::per_element());
  // A new training begins anew.
  train(folder.path.string(), 2, log());
  BOOST_TEST(lines(folder / "log").size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
