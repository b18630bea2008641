// Which words of standard input come again? Remembers them between two runs in a file.
#include <filesystem>
#include <iostream>
#include <string>

#include <octobloom/octobloom.h>

int main() {
  const std::string path = "words.octobloom";
  octobloom::filter seen = std::filesystem::exists(path)
                               ? octobloom::filter::load(path)
                               : octobloom::filter::with_fpr(1'000'000, 0.001);
  for (std::string word; std::cin >> word;) {
    std::cout << word << (seen.insert_new(word) ? "\tnew\n" : "\tseen before\n");
  }
  seen.save(path);
  std::cerr << "about " << seen.estimated_keys().value_or(0) << " words known, "
            << 100 * seen.current_fpr() << " % of new ones would be taken for known\n";
}
