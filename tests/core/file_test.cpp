#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <thread>

#include <octobloom/file_lock.h>
#include <octobloom/filter.h>

#include "support.h"

namespace {

using namespace octobloom;
using octobloom_test::expect_error;
using octobloom_test::golden_path;
using octobloom_test::golden_rows;
using octobloom_test::mapped_filter;
using octobloom_test::read_file;
using octobloom_test::temporary_folder;
using octobloom_test::write_file;

/// The filter that a row of golden/filters.tsv describes, built by the library.
filter build_golden(const std::vector<std::string>& row) {
  plan p = plan_with_blocks(std::stoull(row[1]), static_cast<std::uint32_t>(std::stoul(row[2])));
  std::vector<std::int64_t> integers;
  const auto range = [&](std::int64_t from, std::int64_t to, std::int64_t step) {
    for (std::int64_t i = from; i < to; i += step) integers.push_back(i);
  };
  std::vector<std::string> mails;
  const std::string& keys = row[4];
  if (keys == "int 0..999")
    range(0, 1000, 1);
  else if (keys == "int -200..199")
    range(-200, 200, 1);
  else if (keys == "int 0,3,..2997")
    range(0, 3000, 3);
  else if (keys == "int 0..499")
    range(0, 500, 1);
  else if (keys == "int 0..2")
    range(0, 3, 1);
  else if (keys == "spam{i}@malicious.com, i 0..1999") {
    for (int i = 0; i < 2000; ++i) mails.push_back("spam" + std::to_string(i) + "@malicious.com");
  } else if (keys != "none") {
    throw std::runtime_error("keys that the test does not know: " + keys);
  }
  p.expected_keys = integers.size() + mails.size();
  p.target_fpr = 0.01;
  filter f(p, {.seed = std::stoull(row[3])});
  f.insert(integers);
  f.insert(mails);
  return f;
}

TEST(File, GoldenFilesAreWrittenByteForByte) {
  const temporary_folder folder;
  std::size_t compared = 0;
  for (const auto& row : golden_rows("filters.tsv")) {
    const std::string path = folder.file(row[0]);
    build_golden(row).save(path);
    EXPECT_EQ(read_file(path), read_file(golden_path(row[0]))) << row[0];
    ++compared;
  }
  EXPECT_EQ(compared, 7u);
}

TEST(File, GoldenFilesAreReadAndMapped) {
  for (const auto& row : golden_rows("filters.tsv")) {
    const filter expected = build_golden(row);
    const filter loaded = filter::load(golden_path(row[0]));
    const mapped_filter mapped(golden_path(row[0]));
    EXPECT_EQ(loaded.view().shape(), expected.view().shape());
    EXPECT_EQ(mapped.view().shape(), expected.view().shape());
    EXPECT_EQ(loaded.inserted_keys(), expected.inserted_keys());
    EXPECT_EQ(loaded.planned_keys(), expected.planned_keys());
    EXPECT_EQ(mapped.target_fpr(), 0.01);
    EXPECT_EQ(std::memcmp(loaded.view().words(), expected.view().words(), expected.bytes()), 0);
    EXPECT_EQ(std::memcmp(mapped.view().words(), expected.view().words(), expected.bytes()), 0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapped.view().words()) % 64, 0u);
  }
  const mapped_filter mails(golden_path("mails-k7.octobloom"));
  EXPECT_TRUE(mails.may_contain("spam1999@malicious.com"));
  EXPECT_EQ(mails.inserted_keys(), 2000u);
}

/// Every way to open a file says the same.
error expect_bad_file(const std::string& path) {
  expect_error(error_code::bad_file, [&] { (void)mapped_filter(path); });
  return expect_error(error_code::bad_file, [&] { (void)filter::load(path); });
}

TEST(File, TruncatedAtEveryLength) {
  const temporary_folder folder;
  const std::string path = folder.file("f");
  const std::string whole = read_file(golden_path("one-block.octobloom"));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_file(path, whole.substr(0, length));
    const error e = expect_bad_file(path);
    EXPECT_NE(std::string(e.what()).find(path), std::string::npos);
  }
  write_file(path, whole + '\0');
  expect_bad_file(path);
}

TEST(File, EveryHeaderByteChanged) {
  const temporary_folder folder;
  const std::string path = folder.file("f");
  const std::string whole = read_file(golden_path("one-block.octobloom"));
  for (std::size_t i = 0; i < file_header_bytes; ++i) {
    for (const int flip : {1, 0x10, 0x80, 0xFF}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      write_file(path, damaged);
      expect_bad_file(path);
    }
  }
}

TEST(File, EveryBodyBitFlippedIsFoundUnlessTheCheckIsSkipped) {
  const temporary_folder folder;
  const std::string path = folder.file("f");
  const std::string whole = read_file(golden_path("one-block.octobloom"));
  for (std::size_t bit = 0; bit < 512; ++bit) {
    std::string damaged = whole;
    char& byte = damaged[file_header_bytes + bit / 8];
    byte = static_cast<char>(byte ^ (1 << bit % 8));
    write_file(path, damaged);
    expect_bad_file(path);
    EXPECT_NO_THROW(mapped_filter(path, {.verify_body = false}));
    EXPECT_NO_THROW((void)filter::load(path, {.verify_body = false}));
  }
}

/// Sets a field and makes the header's checksum fit again, as a hostile writer would.
std::string forged(std::string file, std::size_t offset, std::size_t size, std::uint64_t value) {
  const auto put = [&file](std::size_t at, std::size_t bytes, std::uint64_t number) {
    for (std::size_t i = 0; i < bytes; ++i) file[at + i] = static_cast<char>(number >> (8 * i));
  };
  put(offset, size, value);
  put(120, 8, xxh64(file.data(), 120));
  return file;
}

TEST(File, ForgedFieldsAreNamed) {
  const temporary_folder folder;
  const std::string path = folder.file("f");
  const std::string whole = read_file(golden_path("one-block.octobloom"));
  struct forgery {
    std::size_t offset, size;
    std::uint64_t value;
    const char* word;
  };
  const std::uint64_t half = std::bit_cast<std::uint64_t>(1.0);
  const std::uint64_t nan = 0x7FF8000000000000u;
  const std::uint64_t negative = std::bit_cast<std::uint64_t>(-0.5);
  for (const forgery& f : std::vector<forgery>{{8, 2, 2, "version"},
                                               {8, 2, 0, "version"},
                                               {10, 1, 5, "kind"},
                                               {10, 1, 255, "kind"},
                                               {11, 1, 2, "hash id"},
                                               {12, 1, 0, "layout id"},
                                               {12, 1, 2, "layout id"},
                                               {13, 1, 0, "k"},
                                               {13, 1, 25, "k"},
                                               {14, 2, 64, "header size"},
                                               {16, 8, 0, "block count"},
                                               {16, 8, std::uint64_t{1} << 40, "block count"},
                                               {16, 8, std::uint64_t{1} << 32, "block count"},
                                               {16, 8, 0xFFFFFFFF, "body size"},
                                               {48, 8, half, "rate"},
                                               {48, 8, nan, "rate"},
                                               {48, 8, negative, "rate"},
                                               {56, 8, 128, "body size"},
                                               {56, 8, 0, "body size"},
                                               {72, 1, 32, "key families"},
                                               {72, 1, 65, "key families"},
                                               {72, 1, 255, "key families"}}) {
    write_file(path, forged(whole, f.offset, f.size, f.value));
    const error e = expect_bad_file(path);
    EXPECT_NE(std::string(e.what()).find(f.word), std::string::npos)
        << f.offset << ": " << e.what();
  }
}

TEST(File, EveryReservedByteIsRefusedAndNotesAreIgnored) {
  const temporary_folder folder;
  const std::string path = folder.file("f");
  const std::string whole = read_file(golden_path("one-block.octobloom"));
  std::size_t refused = 0;
  for (std::size_t at = 73; at < 104; ++at) {
    for (const std::uint64_t value : {1u, 128u}) {
      write_file(path, forged(whole, at, 1, value));
      const error e = expect_bad_file(path);
      EXPECT_NE(std::string(e.what()).find("byte " + std::to_string(at)), std::string::npos)
          << e.what();
      ++refused;
    }
  }
  EXPECT_EQ(refused, 62u);
  for (std::size_t at = 104; at < 120; ++at) {
    write_file(path, forged(whole, at, 1, 0xA5));
    filter::load(path).save(path);
    EXPECT_EQ(read_file(path), whole) << "a note at " << at << " was copied";
    write_file(path, forged(whole, at, 1, 0xA5));
    EXPECT_TRUE(mapped_filter(path).may_contain(2));
  }
}

TEST(File, AnnotatedGoldenFilesAndThoseOfUnknownFamiliesAnswerAlike) {
  const temporary_folder folder;
  const std::string plain = golden_path("one-block.octobloom");
  const std::string annotated = golden_path("one-block-annotated.octobloom");
  const std::string unknown = golden_path("one-block-families-unknown.octobloom");
  ASSERT_NE(read_file(annotated), read_file(plain));
  ASSERT_NE(read_file(unknown), read_file(plain));
  std::vector<std::int64_t> keys(5000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::int64_t>(i) - 100;
  const auto answers = [&](const auto& f) {
    std::vector<std::uint8_t> bitmap(bitmap_bytes(keys.size()));
    f.may_contain(keys, bitmap);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(f.may_contain(i));
    return bitmap;
  };
  const auto expected = answers(filter::load(plain));
  for (const std::string& path : {annotated, unknown}) {
    EXPECT_EQ(answers(filter::load(path)), expected) << path;
    EXPECT_EQ(answers(mapped_filter(path)), expected) << path;
  }
  filter::load(annotated).save(folder.file("f"));
  EXPECT_EQ(read_file(folder.file("f")), read_file(plain));
  filter::load(unknown).save(folder.file("f"));
  EXPECT_EQ(read_file(folder.file("f")), read_file(unknown));
  EXPECT_EQ(filter::load(annotated).families(), 1);
  EXPECT_EQ(filter::load(unknown).families(), 0);
  expect_error(error_code::wrong_key, [&] { (void)filter::load(annotated).may_contain("1"); });
  EXPECT_NO_THROW((void)filter::load(unknown).may_contain("1"));
  EXPECT_NO_THROW((void)mapped_filter(unknown).may_contain("1"));
}

TEST(File, AHugeClaimInASmallFileIsRefusedBeforeItIsAllocated) {
  const temporary_folder folder;
  const std::string path = folder.file("f");
  std::string claim = read_file(golden_path("one-block.octobloom"));
  claim = forged(claim, 16, 8, 0xFFFFFFFF);
  claim = forged(claim, 56, 8, std::uint64_t{0xFFFFFFFF} * 64);
  write_file(path, claim);
  EXPECT_NE(std::string(expect_bad_file(path).what()).find("cut off"), std::string::npos);
}

TEST(File, FieldsThatMayBeAnythingSurvive) {
  const temporary_folder folder;
  filter f(plan_for(1000, 0.25), {.seed = UINT64_MAX, .hashing = key_hashing::caller});
  f.insert_hash(1);
  f.count_inserted(UINT64_MAX);
  f.save(folder.file("f"));
  const filter back = filter::load(folder.file("f"));
  EXPECT_EQ(back.seed(), UINT64_MAX);
  EXPECT_EQ(back.inserted_keys(), UINT64_MAX);
  EXPECT_EQ(back.planned_keys(), 1000u);
  EXPECT_EQ(back.target_fpr(), 0.25);
  expect_error(error_code::wrong_key, [&] { (void)back.may_contain(1); });
  const mapped_filter mapped(folder.file("f"));
  expect_error(error_code::wrong_key, [&] { (void)mapped.may_contain(1); });
  EXPECT_TRUE(mapped.may_contain_hash(1));
}

TEST(File, WhatIsNotAFileIsSaidClearly) {
  const temporary_folder folder;
  expect_error(error_code::io, [&] { (void)filter::load(folder.file("absent")); });
  expect_error(error_code::bad_file, [&] { (void)filter::load("/"); });
  expect_error(error_code::bad_file, [&] { (void)filter::load("/dev/null"); });
  const filter f = filter::with_blocks(1, 1);
  expect_error(error_code::io, [&] { f.save(folder.file("no/such/folder")); });
  expect_error(error_code::io, [&] { f.save("/dev/full"); });
}

TEST(File, SavingReplacesKeepsTheModeAndFollowsLinks) {
  const temporary_folder folder;
  const std::string path = folder.file("f");
  write_file(path, "old");
  chmod(path.c_str(), 0640);
  std::filesystem::create_symlink(path, folder.file("link"));
  filter f = filter::with_blocks(3, 8);
  f.insert(1);
  f.save(folder.file("link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_TRUE(filter::load(path).may_contain(1));
  struct stat status {};
  stat(path.c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_EQ(folder.entries(), 2u);
}

TEST(File, SavingThroughALinkMakesTheFileThatItNames) {
  const temporary_folder folder;
  std::filesystem::create_directory(folder.file("elsewhere"));
  std::filesystem::create_symlink("elsewhere/second", folder.file("first"));
  std::filesystem::create_symlink("new", folder.file("elsewhere/second"));
  filter::with_blocks(3, 8).save(folder.file("first"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("first")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("elsewhere/second")));
  EXPECT_EQ(filter::load(folder.file("elsewhere/new")).blocks(), 3u);

  std::filesystem::create_symlink("round", folder.file("round"));
  expect_error(error_code::io, [&] { filter::with_blocks(3, 8).save(folder.file("round")); });
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("round")));
  EXPECT_EQ(folder.entries(), 3u);
}

TEST(File, SavingKeepsTheOwnerOrGivesTheNewOneNoMore) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to somebody else";
  const temporary_folder folder;
  ASSERT_EQ(chmod(folder.file("").c_str(), 0777), 0);
  const std::string path = folder.file("f");
  write_file(path, "old");
  ASSERT_EQ(chown(path.c_str(), 1234, 2345), 0);
  ASSERT_EQ(chmod(path.c_str(), 0674), 0);
  struct stat status {};
  const auto expect = [&](uid_t owner, gid_t group, mode_t mode) {
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, owner);
    EXPECT_EQ(status.st_gid, group);
    EXPECT_EQ(status.st_mode & 07777, mode);
  };
  const auto save_as = [&](uid_t owner, gid_t group, gid_t second_group) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      if (chdir(folder.file("").c_str()) != 0 || setgroups(1, &second_group) != 0 ||
          setgid(group) != 0 || setuid(owner) != 0) {
        _exit(2);
      }
      filter::with_blocks(1, 1).save("f");
      _exit(0);
    }
    int ended = 0;
    waitpid(child, &ended, 0);
    EXPECT_EQ(ended, 0);
  };
  filter::with_blocks(1, 1).save(path);
  expect(1234, 2345, 0674);
  save_as(4321, 5432, 2345);
  expect(4321, 2345, 0674);
  save_as(5678, 6789, 6789);
  expect(5678, 6789, 0644);
}

TEST(File, AFailedSaveLeavesTheOldFileAndNothingElse) {
  const temporary_folder folder;
  const std::string path = folder.file("f");
  const filter old = filter::with_blocks(1, 1);
  old.save(path);
  const std::string before = read_file(path);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {  // a process whose files may grow to 4 KiB only
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      filter::with_blocks(1000, 1).save(path);
    } catch (const error& e) {
      _exit(e.code() == error_code::io ? 0 : 2);
    }
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_file(path), before);
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(File, LocksExcludeEachOtherAcrossReplacement) {
  const temporary_folder folder;
  const std::string path = folder.file("f");
  filter::with_fpr(1000, 0.001).save(path);
  constexpr int writers = 4;
  constexpr int rounds = 20;
  std::vector<std::jthread> threads;
  threads.reserve(writers);
  for (int t = 0; t < writers; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < rounds; ++i) {
        const file_lock lock(path);
        filter f = filter::load(path);
        f.insert(t * rounds + i);
        f.save(path);
      }
    });
  }
  threads.clear();
  const filter f = filter::load(path);
  EXPECT_EQ(f.inserted_keys(), static_cast<std::uint64_t>(writers * rounds));
  for (int i = 0; i < writers * rounds; ++i) EXPECT_TRUE(f.may_contain(i));
}

TEST(MappedFilter, MovesHaveOneOwnerAndFiltersMergeFromIt) {
  const temporary_folder folder;
  filter f = filter::with_blocks(10, 8);
  f.insert(1);
  f.save(folder.file("f"));
  mapped_filter a(folder.file("f"));
  mapped_filter b = std::move(a);
  EXPECT_TRUE(b.may_contain(1));
  a = std::move(b);
  EXPECT_TRUE(a.may_contain(1));
  filter sum = filter::with_blocks(10, 8);
  sum.insert(2);
  sum.merge(a);
  EXPECT_TRUE(sum.may_contain(1));
  EXPECT_EQ(sum.inserted_keys(), 2u);
  EXPECT_EQ(a.verdict(), saturation::fine);
}

}  // namespace
