// Memory refused to the C door: a status and a sentence, and no exception.

#include <octobloom/c.h>

#include <unistd.h>
#include <filesystem>
#include <string>

#include "../refuse_memory.h"

namespace {

/// Calls with the first request refused, then the second, and so on until it succeeds; returns how
/// often it was refused.
template <class Call>
int refuse_status(Call call) {
  for (int n = 0; n < 10'000; ++n) {
    octobloom::test::calls_left = n;
    const octobloom_status status = call();
    octobloom::test::calls_left = -1;
    if (status == OCTOBLOOM_OK) return n;
    EXPECT_EQ(status, OCTOBLOOM_OUT_OF_MEMORY);
    EXPECT_STRNE(octobloom_message(), "");
  }
  ADD_FAILURE() << "it never succeeds";
  return 0;
}

TEST(RefusedMemoryInC, CreateSaveLoad) {
  const std::string path =
      ::testing::TempDir() + "octobloom_c_refused_memory_" + std::to_string(getpid());
  octobloom_plan plan{};
  octobloom_create_options options{};
  refuse_status([&] { return octobloom_plan_for(1000, 0.01, &plan); });
  options.size = sizeof options;
  options.blocks = plan.blocks;
  options.k = plan.k;
  octobloom_filter* filter = nullptr;
  EXPECT_GT(refuse_status([&] { return octobloom_filter_create(&options, &filter); }), 0);
  EXPECT_GT(refuse_status([&] { return octobloom_filter_save(filter, path.c_str()); }), 0);
  octobloom_filter* loaded = nullptr;
  EXPECT_GT(refuse_status([&] { return octobloom_filter_load(path.c_str(), nullptr, &loaded); }),
            0);
  octobloom_filter_destroy(loaded);
  octobloom_filter_destroy(filter);
  std::filesystem::remove(path);
}

}  // namespace
