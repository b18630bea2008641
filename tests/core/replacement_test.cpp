// Locks, and files that are replaced: who waits for whom, what is left when the writer is killed.
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <thread>

#include <octobloom/atomic_file.h>
#include <octobloom/file_lock.h>
#include <octobloom/filter.h>
#include <octobloom/mapped_filter.h>

#include "support.h"

namespace {

using namespace octobloom;
using octobloom_test::expect_error;
using octobloom_test::mapped_filter;
using octobloom_test::random_numbers;
using octobloom_test::read_file;
using octobloom_test::temporary_folder;
using octobloom_test::write_file;
using namespace std::chrono_literals;

/// From now on the system answers `call` with `answer`, in this process; when `bits` are given,
/// only where the argument number `argument` has one of them. False where there is no such thing.
bool refuse_call(std::uint32_t call, std::uint32_t answer, unsigned argument = 0,
                 std::uint32_t bits = 0) {
  const auto low_half =
      static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * std::size_t{argument} +
                                 (std::endian::native == std::endian::big ? 4 : 0));
  std::array<sock_filter, 6> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low_half),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  if (bits == 0) program[3] = BPF_JUMP(BPF_JMP | BPF_JA, 0, 0, 0);
  const sock_fprog filter{program.size(), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

constexpr int no_such_thing = 77;

/// Runs `action` in a process of its own: its exit status, or 128 + the signal that ended it.
int in_child(const std::function<int()>& action) {
  const pid_t child = fork();
  if (child == 0) {
    int status = 99;
    try {
      status = action();
    } catch (const std::exception& problem) {
      std::fprintf(stderr, "%s\n", problem.what());
    }
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// What a file system may lack.
struct lack {
  const char* name;
  bool (*impose)();
};

bool nothing() {
  return true;
}
bool unnamed_files() {
  constexpr std::uint32_t bit = O_TMPFILE & ~O_DIRECTORY;
  return refuse_call(SYS_openat, SECCOMP_RET_ERRNO | EOPNOTSUPP, 2, bit);
}
bool links() {
  return refuse_call(SYS_linkat, SECCOMP_RET_ERRNO | EPERM);
}
bool locks() {
  return refuse_call(SYS_flock, SECCOMP_RET_ERRNO | ENOLCK);
}
bool unnamed_files_and_links() {
  return unnamed_files() && links();
}

/// Emulators in user mode cannot.
bool calls_can_be_refused() {
  return in_child([] { return locks() ? 0 : int{no_such_thing}; }) == 0;
}

class replacement : public testing::TestWithParam<lack> {
 protected:
  void SetUp() override {
    if (in_child([] { return GetParam().impose() ? 0 : int{no_such_thing}; }) == no_such_thing) {
      GTEST_SKIP() << "system calls cannot be refused here";
    }
  }

  /// The same in a process whose file system lacks that.
  static void expect_in_child(const std::function<int()>& action, int expected = 0) {
    EXPECT_EQ(in_child([&] { return GetParam().impose() ? action() : int{no_such_thing}; }),
              expected);
  }

  [[nodiscard]] std::string path(const std::string& name = "f") const { return folder_.file(name); }

  temporary_folder folder_;
};

filter with_key(int key) {
  filter f = filter::with_blocks(100, 8);
  f.insert(key);
  return f;
}

}  // namespace

TEST_P(replacement, new_and_old_files_are_whole_and_alone) {
  expect_in_child([&] {
    umask(027);
    with_key(1).save(path());
    struct stat status {};
    if (stat(path().c_str(), &status) != 0 || (status.st_mode & 07777) != 0640) return 2;
    chmod(path().c_str(), 0604);
    with_key(2).save(path());
    if (stat(path().c_str(), &status) != 0 || (status.st_mode & 07777) != 0604) return 3;
    const filter back = filter::load(path());
    return back.may_contain(2) && !back.may_contain(1) && folder_.entries() == 1 ? 0 : 4;
  });
}

TEST_P(replacement, the_umask_is_never_touched) {
  if (!calls_can_be_refused()) GTEST_SKIP() << "system calls cannot be refused here";
  expect_in_child([&] {
    umask(077);
    if (!refuse_call(SYS_umask, SECCOMP_RET_KILL_PROCESS)) return 3;
    with_key(1).save(path());
    with_key(2).save(path());
    struct stat status {};
    return stat(path().c_str(), &status) == 0 && (status.st_mode & 0777) == 0600 ? 0 : 2;
  });
}

TEST_P(replacement, names_of_any_length_that_the_system_takes) {
  for (const std::size_t length : {250u, 255u}) {
    expect_in_child([&] {
      const std::string name = path(std::string(length, 'n'));
      with_key(1).save(name);
      with_key(2).save(name);
      return filter::load(name).may_contain(2) ? 0 : 2;
    });
  }
  expect_error(error_code::io, [&] { with_key(1).save(path(std::string(256, 'n'))); });
  EXPECT_EQ(folder_.entries(), 2u);
}

TEST_P(replacement, what_killed_writers_leave_goes_with_the_next_save) {
  with_key(1).save(path());
  const std::string old = read_file(path());
  for (int i = 0; i < 3; ++i) {
    expect_in_child(
        [&] {
          atomic_file first(path());
          atomic_file second(path());
          first.write(std::as_bytes(std::span("half")));
          raise(SIGKILL);
          return 0;
        },
        128 + SIGKILL);
    EXPECT_EQ(read_file(path()), old);
  }
  with_key(2).save(path());
  EXPECT_EQ(folder_.entries(), 1u);
  EXPECT_TRUE(filter::load(path()).may_contain(2));
}

TEST_P(replacement, what_living_writers_have_stays) {
  std::array<int, 2> ready{};
  std::array<int, 2> go{};
  ASSERT_EQ(pipe(ready.data()), 0);
  ASSERT_EQ(pipe(go.data()), 0);
  std::thread slow([&] {
    expect_in_child([&] {
      atomic_file file(path());
      file.write(std::as_bytes(std::span("slow", 4)));
      char byte = 0;
      if (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1) return 2;
      file.commit();
      return 0;
    });
    close(ready[1]);
  });
  char byte = 0;
  if (read(ready[0], &byte, 1) == 1) {
    for (int i = 0; i < 3; ++i) with_key(i).save(path());
    EXPECT_EQ(write(go[1], &byte, 1), 1);
  }
  slow.join();
  EXPECT_EQ(read_file(path()), "slow");
  EXPECT_EQ(folder_.entries(), 1u);
  for (const int end : {ready[0], go[0], go[1]}) close(end);
}

TEST_P(replacement, a_kill_at_any_moment_leaves_the_old_file_or_the_new_one) {
  with_key(0).save(path());
  random_numbers random(11);
  for (int round = 0; round < 30; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      if (!GetParam().impose()) _exit(no_such_thing);
      for (int key = 1;; key = 3 - key) with_key(key).save(path());
    }
    usleep(static_cast<useconds_t>(random() % 8'000));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const filter left = filter::load(path());
    EXPECT_EQ(left.inserted_keys(), 1u);
    EXPECT_LE(folder_.entries(), 2u);
    with_key(0).save(path());
    EXPECT_EQ(folder_.entries(), 1u);
  }
}

TEST_P(replacement, everybody_may_make_a_new_file_at_once) {
  expect_in_child([&] {
    for (int round = 0; round < 20; ++round) {
      std::filesystem::remove(path());
      std::vector<std::jthread> threads;
      for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { with_key(i).save(path()); });
      threads.clear();
      if (filter::load(path()).inserted_keys() != 1 || folder_.entries() != 1) return 2;
    }
    return 0;
  });
}

INSTANTIATE_TEST_SUITE_P(without, replacement,
                         testing::Values(lack{"nothing", nothing},
                                         lack{"unnamed_files", unnamed_files}, lack{"links", links},
                                         lack{"unnamed_files_and_links", unnamed_files_and_links}),
                         [](const auto& test) { return std::string(test.param.name); });

namespace {

class attributes : public replacement {
 protected:
  using entries = std::vector<std::array<std::uint32_t, 3>>;  // tag, rights, who

  /// The system's own form of an access control list.
  static std::string list_of(const entries& list) {
    std::string bytes("\2\0\0\0", 4);
    for (const auto& [tag, rights, who] : list) {
      for (const auto& [value, size] : {std::pair{tag, 2}, {rights, 2}, {who, 4}}) {
        for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
      }
    }
    return bytes;
  }
  static bool set(const std::string& path, const char* name, const std::string& value) {
    return setxattr(path.c_str(), name, value.data(), value.size(), 0) == 0;
  }
  static std::string get(const std::string& path, const char* name) {
    std::array<char, 256> value{};
    const ssize_t size = getxattr(path.c_str(), name, value.data(), value.size());
    return size < 0 ? "none" : std::string(value.data(), static_cast<std::size_t>(size));
  }
  [[nodiscard]] mode_t mode() const {
    struct stat status {};
    stat(path().c_str(), &status);
    return status.st_mode & 07777u;
  }

  static constexpr const char* list = "system.posix_acl_access";
  static constexpr const char* folder_list = "system.posix_acl_default";
  static constexpr std::uint32_t nobody = UINT32_MAX;
  // Owner rw, user 1234 rw, group nothing, mask rw, others nothing.
  const std::string named_user =
      list_of({{1, 6, nobody}, {2, 6, 1234}, {4, 0, nobody}, {16, 6, nobody}, {32, 0, nobody}});
};

}  // namespace

TEST_P(attributes, are_kept_and_none_are_added) {
  with_key(1).save(path());
  if (!set(path(), "user.note", "seen") || !set(path(), list, named_user)) {
    GTEST_SKIP() << "the file system has no such attributes: " << std::strerror(errno);
  }
  ASSERT_EQ(mode(), 0660u);
  expect_in_child([&] {
    with_key(2).save(path());
    return 0;
  });
  EXPECT_EQ(get(path(), "user.note"), "seen");
  EXPECT_EQ(get(path(), list), named_user);
  EXPECT_EQ(mode(), 0660u);

  // A folder's list is for new files, not for those that replace one.
  ASSERT_EQ(removexattr(path().c_str(), list), 0);
  ASSERT_EQ(chmod(path().c_str(), 0640), 0);
  ASSERT_TRUE(set(path(""), folder_list, named_user));
  expect_in_child([&] {
    with_key(3).save(path());
    with_key(3).save(path("new"));
    return 0;
  });
  EXPECT_EQ(get(path(), list), "none");
  EXPECT_EQ(mode(), 0640u);
  EXPECT_NE(get(path("new"), list), "none");
}

TEST_P(attributes, a_list_that_cannot_be_kept_gives_the_group_no_more) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to somebody else";
  ASSERT_EQ(chmod(path("").c_str(), 0777), 0);
  with_key(1).save(path());
  ASSERT_EQ(chown(path().c_str(), 1234, 2345), 0);
  if (!set(path(), list, named_user)) GTEST_SKIP() << "the file system has no lists";
  ASSERT_EQ(mode(), 0660u);
  expect_in_child([&] {
    const gid_t group = 6789;
    if (chdir(path("").c_str()) != 0 || setgroups(1, &group) != 0 || setgid(group) != 0 ||
        setuid(1234) != 0) {
      return 2;
    }
    with_key(2).save("f");
    return 0;
  });
  EXPECT_EQ(get(path(), list), "none");
  EXPECT_EQ(mode(), 0600u);
}

TEST_P(attributes, a_list_that_the_system_refuses_gives_the_group_no_more) {
  with_key(1).save(path());
  if (!set(path(), list, named_user)) GTEST_SKIP() << "the file system has no lists";
  if (!calls_can_be_refused()) GTEST_SKIP() << "system calls cannot be refused here";
  ASSERT_EQ(mode(), 0660u);
  expect_in_child([&] {
    if (!refuse_call(SYS_fsetxattr, SECCOMP_RET_ERRNO | EPERM)) return 2;
    with_key(2).save(path());
    return 0;
  });
  EXPECT_EQ(get(path(), list), "none");
  EXPECT_EQ(mode(), 0600u);
}

INSTANTIATE_TEST_SUITE_P(without, attributes,
                         testing::Values(lack{"nothing", nothing},
                                         lack{"unnamed_files", unnamed_files},
                                         lack{"links", links}),
                         [](const auto& test) { return std::string(test.param.name); });

namespace {

/// A thread that wants something, and whether it has it yet.
class wanting {
 public:
  template <class Action>
  explicit wanting(Action action)
      : thread_([this, action] {
          action();
          done_ = true;
        }) {}
  /// It does not get it for a while.
  [[nodiscard]] bool waits() const {
    std::this_thread::sleep_for(30ms);
    return !done_;
  }
  void join() { thread_.join(); }

 private:
  std::atomic<bool> done_ = false;
  std::jthread thread_;
};

TEST(FileLock, IsOnTheFileWhateverItsName) {
  const temporary_folder folder;
  const std::string path = folder.file("f");
  with_key(1).save(path);
  std::filesystem::create_symlink("f", folder.file("symbolic"));
  std::filesystem::create_hard_link(path, folder.file("hard"));
  for (const std::string other : {"./f", "symbolic", "hard"}) {
    std::optional<file_lock> lock(path);
    EXPECT_TRUE(lock->held());
    wanting second([&] { const file_lock also(folder.file(other)); });
    EXPECT_TRUE(second.waits()) << other;
    lock.reset();
    second.join();
  }
}

TEST(FileLock, OneThreadHasItOnceAndItsSavesKeepIt) {
  const temporary_folder folder;
  const std::string path = folder.file("f");
  with_key(1).save(path);
  std::optional<file_lock> lock(path);
  {
    const file_lock again(folder.file("./f"));
    EXPECT_TRUE(again.held());
  }
  with_key(2).save(path);  // replaces the file, and the lock is on the new one
  wanting second([&] { const file_lock also(path); });
  wanting third([&] { with_key(3).save(path); });
  EXPECT_TRUE(second.waits());
  with_key(4).save(path);
  EXPECT_TRUE(second.waits());
  EXPECT_TRUE(third.waits());
  EXPECT_TRUE(filter::load(path).may_contain(4));
  lock.reset();
  second.join();
  third.join();
  EXPECT_TRUE(filter::load(path).may_contain(3));
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(FileLock, AFileThatAppearsWhileItIsWrittenIsWaitedFor) {
  const temporary_folder folder;
  const std::string path = folder.file("f");
  atomic_file mine(path, atomic_file::locking::target);
  with_key(1).save(path);
  std::optional<file_lock> lock(path);
  wanting commit([&] { mine.commit(); });
  EXPECT_TRUE(commit.waits());
  EXPECT_TRUE(filter::load(path).may_contain(1));
  lock.reset();
  commit.join();
  EXPECT_EQ(std::filesystem::file_size(path), 0u);
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(FileLock, SaysOnceThatItWaits) {
  const temporary_folder folder;
  const std::string path = folder.file("f");
  with_key(1).save(path);
  std::atomic<int> said = 0;
  const auto say = [&] { ++said; };
  { const file_lock free(path, file_lock::if_impossible::fail, say); }
  EXPECT_EQ(said, 0);
  std::optional<file_lock> lock(path);
  wanting second([&] { const file_lock also(path, file_lock::if_impossible::fail, say); });
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (said == 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(1ms);
  with_key(2).save(path);  // the one that waits goes on waiting, on the new file
  EXPECT_TRUE(second.waits());
  lock.reset();
  second.join();
  EXPECT_EQ(said, 1);
}

TEST(FileLock, IsAnErrorWhereItCannotBeUnlessTold) {
  const temporary_folder folder;
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  const auto expect = [&](const std::string& path, error_code code) {
    expect_error(code, [&] { const file_lock lock(path); });
    EXPECT_FALSE(file_lock(path, file_lock::if_impossible::go_on).held()) << path;
  };
  expect(folder.file("absent"), error_code::io);
  expect(folder.file(""), error_code::bad_file);
  expect(folder.file("pipe"), error_code::bad_file);
  expect("/dev/null", error_code::bad_file);

  // A file system without locks: what only replaces goes on, what read before does not.
  const std::string path = folder.file("f");
  with_key(1).save(path);
  const int status = in_child([&] {
    if (!locks()) return int{no_such_thing};
    expect(path, error_code::io);
    with_key(2).save(path);
    with_key(2).save(folder.file("new"));
    return testing::Test::HasFailure() ? 2 : 0;
  });
  if (status == no_such_thing) GTEST_SKIP() << "system calls cannot be refused here";
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(filter::load(path).may_contain(2));
}

TEST(FileLock, WhatIsNoFileIsRefusedBeforeItIsOpened) {
  const temporary_folder folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  sockaddr_un address{AF_UNIX, {}};
  const std::string socket_name = folder.file("s");
  ASSERT_LT(socket_name.size(), sizeof address.sun_path);
  std::strcpy(address.sun_path, socket_name.c_str());
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  for (const auto& [path, word] : {std::pair{pipe, "a pipe"},
                                   {socket_name, "a socket"},
                                   {folder.file(""), "a directory"},
                                   {std::string("/dev/tty"), "a device"}}) {
    const error e = expect_error(error_code::bad_file, [&] { (void)filter::load(path); });
    EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    expect_error(error_code::bad_file, [&] { (void)mapped_filter(path); });
  }
  close(listener);
  expect_error(error_code::io, [&] { with_key(1).save(socket_name); });
  expect_error(error_code::io, [&] { with_key(1).save(folder.file("")); });
}

TEST(MappedFilter, ACopyOutlivesItsFile) {
  const temporary_folder folder;
  const std::string path = folder.file("f");
  filter f = filter::with_blocks(1000, 8);
  for (int i = 0; i < 1000; ++i) f.insert(i);
  f.save(path);
  mapped_filter first(path, {.copy = true});
  const mapped_filter copy = std::move(first);
  std::filesystem::resize_file(path, 0);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(copy.may_contain(i));
  EXPECT_TRUE(copy.whole());
  EXPECT_EQ(copy.inserted_keys(), 1000u);
  EXPECT_NO_THROW(copy.verify_body());
  expect_error(error_code::bad_file, [&] { (void)mapped_filter(path, {.copy = true}); });

  std::string damaged = (f.save(path), read_file(path));
  damaged[5000] = static_cast<char>(damaged[5000] ^ 1);
  write_file(path, damaged);
  expect_error(error_code::bad_file, [&] { (void)mapped_filter(path, {.copy = true}); });
  EXPECT_NO_THROW((void)mapped_filter(path, {.verify_body = false, .copy = true}));
  const mapped_filter unchecked(path, {.verify_body = false});
  expect_error(error_code::bad_file, [&] { unchecked.verify_body(); });
}

TEST(MappedFilter, NoticesThatItsFileWasCutShort) {
  if (!files_can_be_used_in_place) GTEST_SKIP() << "only copies on this machine";
  const temporary_folder folder;
  const std::string path = folder.file("f");
  with_key(1).save(path);
  const mapped_filter mapped(path);
  EXPECT_TRUE(mapped.whole());
  with_key(2).save(path);  // replaced, not changed
  EXPECT_TRUE(mapped.whole());
  EXPECT_TRUE(mapped.may_contain(1));
  const mapped_filter second(path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_TRUE(mapped.whole());
  EXPECT_FALSE(second.whole());
}

const_filter_view view_in_use{nullptr, {}};

TEST(MappedFilter, TheSignalOfALostPageNamesAnAddressInTheView) {
  if (!files_can_be_used_in_place) GTEST_SKIP() << "only copies on this machine";
  const temporary_folder folder;
  const std::string path = folder.file("f");
  filter::with_blocks(1000, 8).save(path);
  const int status = in_child([&] {
    const mapped_filter mapped(path);
    view_in_use = mapped.view();
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t* info, void*) {
      const auto* word = static_cast<const std::uint64_t*>(info->si_addr);
      const std::uint64_t* begin = view_in_use.words();
      _exit(word >= begin && word < begin + 8 * std::size_t{view_in_use.blocks()} ? 5 : 6);
    };
    sigaction(SIGBUS, &action, nullptr);
    std::filesystem::resize_file(path, 0);
    int found = 0;
    for (int i = 0; i < 1000; ++i) found += mapped.may_contain(i) ? 1 : 0;
    return found;
  });
  EXPECT_EQ(status, 5);
}

TEST(MappedFilter, IsACopyOrAnErrorWhereWordsAreBigEndian) {
  const temporary_folder folder;
  with_key(1).save(folder.file("f"));
  if (files_can_be_used_in_place) {
    EXPECT_NO_THROW((void)octobloom::mapped_filter(folder.file("f"), {}));
    return;
  }
  const error e = expect_error(error_code::invalid_argument,
                               [&] { (void)octobloom::mapped_filter(folder.file("f"), {}); });
  EXPECT_NE(std::string(e.what()).find("ask for a copy"), std::string::npos);
}

}  // namespace
