// Writes a log of e-mail senders, the same one every time: COUNT lines drawn from ADDRESSES
// possible addresses. Ten million lines from seven million addresses are 288 MB, and about half of
// them are repeats.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

namespace {

constexpr std::uint64_t seed = 20240229;

/// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators".
class splitmix64 {
 public:
  explicit splitmix64(std::uint64_t start) : state_(start) {}

  /// A number below `limit`, which is less than 2^32.
  std::uint64_t below(std::uint64_t limit) { return (next() >> 32) * limit >> 32; }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t lines = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  const std::uint64_t addresses = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 7'000'000;
  if (argc > 3 || lines == 0 || addresses == 0 || addresses >> 32 != 0) {
    std::cerr << "usage: email_log [COUNT [ADDRESSES]]\n";
    return 2;
  }
  splitmix64 random(seed);
  std::string text;
  for (std::uint64_t i = 0; i < lines; ++i) {
    const std::uint64_t address = random.below(addresses);
    text +=
        "user" + std::to_string(address) + "@mx" + std::to_string(address % 100) + ".example.com\n";
    if (text.size() > (1 << 20) || i + 1 == lines) {
      std::cout.write(text.data(), static_cast<std::streamsize>(text.size()));
      text.clear();
    }
  }
  return std::cout.flush() ? 0 : 1;
}
