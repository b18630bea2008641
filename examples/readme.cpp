#include <cstdio>
#include <octobloom/octobloom.h>

int main() {
  // 10 million keys, one false positive in a thousand: 19.5 MB.
  octobloom::filter seen = octobloom::filter::with_fpr(10'000'000, 0.001);
  seen.insert("spam@malicious.com");
  seen.insert(42);

  std::printf("%d %d %d\n", seen.may_contain("spam@malicious.com"), seen.may_contain(42),
              seen.may_contain("friend@example.com"));

  // Many keys at once run on the fastest engine there is.
  std::vector<std::uint64_t> ids{1, 2, 3, 2, 1};
  std::vector<std::uint8_t> is_new(1);
  seen.insert_new(ids, is_new);  // bits 11100: the first 1, 2 and 3

  seen.save("seen.octobloom");
  octobloom::mapped_filter shared("seen.octobloom");  // used in place, shared between processes
  std::printf("%.2e\n", shared.current_fpr());
}
