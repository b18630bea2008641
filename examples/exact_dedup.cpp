// The exact way to remove repeats, to compare with: every line that was seen is kept in a hash set.
// Prints the first occurrences of the lines of FILE in order, and their count on standard error.
#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <string>
#include <unordered_set>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: exact_dedup FILE\n";
    return 2;
  }
  const auto began = std::chrono::steady_clock::now();
  std::ios::sync_with_stdio(false);
  std::ifstream input(argv[1], std::ios::binary);
  if (!input) {
    std::cerr << argv[1] << ": cannot be opened\n";
    return 2;
  }
  std::unordered_set<std::string> seen;
  std::size_t lines = 0;
  for (std::string line; std::getline(input, line); ++lines) {
    if (seen.insert(line).second) {
      line += '\n';
      std::cout.write(line.data(), static_cast<std::streamsize>(line.size()));
    }
  }
  std::cout.flush();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::cerr << "{\"lines_in\": " << lines << ", \"lines_out\": " << seen.size()
            << ", \"seconds\": " << took.count() << ", \"peak_bytes\": " << usage.ru_maxrss * 1024
            << "}\n";
  return std::cout ? 0 : 1;
}
