#include <octobloom/file.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include <octobloom/error.h>
#include <octobloom/hash.h>

namespace octobloom {

namespace {

constexpr std::array<char, 8> magic{'O', 'C', 'T', 'O', 'B', 'L', 'M', '\n'};
constexpr std::uint64_t layout_rot8 = 1;

// Offsets of docs/format.md.
constexpr std::size_t at_version = 8;
constexpr std::size_t at_kind = 10;
constexpr std::size_t at_hash = 11;
constexpr std::size_t at_layout = 12;
constexpr std::size_t at_k = 13;
constexpr std::size_t at_header_bytes = 14;
constexpr std::size_t at_blocks = 16;
constexpr std::size_t at_seed = 24;
constexpr std::size_t at_inserted = 32;
constexpr std::size_t at_planned = 40;
constexpr std::size_t at_fpr = 48;
constexpr std::size_t at_body_bytes = 56;
constexpr std::size_t at_body_checksum = 64;
constexpr std::size_t at_reserved = 72;
constexpr std::size_t at_checksum = 120;

[[noreturn]] void bad_file(const std::string& path, const std::string& what) {
  throw error(error_code::bad_file, path + ": " + what);
}

[[noreturn]] void io_error(const std::string& path, const std::string& what) {
  const int code = errno;
  throw error(error_code::io, path + ": " + what + ": " + std::strerror(code));
}

/// Retries what a signal interrupted.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

void store(std::span<std::byte> header, std::size_t at, std::size_t size, std::uint64_t value) {
  for (std::size_t i = 0; i < size; ++i) header[at + i] = static_cast<std::byte>(value >> (8 * i));
}

std::uint64_t fetch(std::span<const std::byte> header, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value |= static_cast<std::uint64_t>(header[at + i]) << (8 * i);
  }
  return value;
}

/// Fills `bytes` from the file's current position; false at a too early end.
bool read_exactly(int descriptor, std::span<std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t got =
        uninterrupted([&] { return ::read(descriptor, bytes.data(), bytes.size()); });
    if (got < 0) io_error(path, "cannot be read");
    if (got == 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

void close_quietly(int& descriptor) noexcept {
  if (descriptor >= 0) ::close(std::exchange(descriptor, -1));
}

}  // namespace

std::string_view to_string(filter_kind kind) noexcept {
  switch (kind) {
    case filter_kind::plain:
      return "plain";
  }
  return "unknown";
}

std::array<std::byte, file_header_bytes> encode_header(const file_header& header) {
  std::array<std::byte, file_header_bytes> bytes{};
  std::memcpy(bytes.data(), magic.data(), magic.size());
  store(bytes, at_version, 2, file_version);
  store(bytes, at_kind, 1, static_cast<std::uint64_t>(header.kind));
  store(bytes, at_hash, 1, static_cast<std::uint64_t>(header.shape.hashing));
  store(bytes, at_layout, 1, layout_rot8);
  store(bytes, at_k, 1, header.shape.k);
  store(bytes, at_header_bytes, 2, file_header_bytes);
  store(bytes, at_blocks, 8, header.shape.blocks);
  store(bytes, at_seed, 8, header.shape.seed);
  store(bytes, at_inserted, 8, header.inserted_keys);
  store(bytes, at_planned, 8, header.planned_keys);
  store(bytes, at_fpr, 8, std::bit_cast<std::uint64_t>(header.target_fpr));
  store(bytes, at_body_bytes, 8, header.body_bytes);
  store(bytes, at_body_checksum, 8, header.body_checksum);
  store(bytes, at_checksum, 8, xxh64(bytes.data(), at_checksum));
  return bytes;
}

file_header decode_header(std::span<const std::byte> bytes, const std::string& path) {
  if (bytes.size() < file_header_bytes) {
    bad_file(path, "is " + std::to_string(bytes.size()) +
                       " bytes long, shorter than the 128 bytes of a filter's header: not a filter "
                       "file, or cut off");
  }
  bytes = bytes.first(file_header_bytes);
  if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) {
    bad_file(path, "does not start with OCTOBLM: not a filter file");
  }
  if (const auto found = fetch(bytes, at_version, 2); found != file_version) {
    bad_file(path, "is of format version " + std::to_string(found) +
                       "; this program reads version 1: use a newer octobloom");
  }
  if (fetch(bytes, at_checksum, 8) != xxh64(bytes.data(), at_checksum)) {
    bad_file(path,
             "the header's checksum does not fit: the file is damaged, restore it or build the "
             "filter again");
  }
  const auto refuse = [&](const char* field, std::uint64_t value, const char* expected) {
    bad_file(path, std::string("the header's ") + field + " is " + std::to_string(value) +
                       ", expected " + expected);
  };
  file_header header;
  if (const auto kind = fetch(bytes, at_kind, 1); kind != 0) {
    refuse("kind", kind, "0 (plain): written by a newer octobloom?");
  }
  const auto hash = fetch(bytes, at_hash, 1);
  if (hash > 1) refuse("hash id", hash, "0 (the caller's) or 1 (XXH64)");
  if (const auto layout = fetch(bytes, at_layout, 1); layout != layout_rot8) {
    refuse("layout id", layout, "1 (rot8)");
  }
  const auto k = fetch(bytes, at_k, 1);
  if (k < 1 || k > rot8::max_k) refuse("k", k, "1 to 24");
  if (const auto size = fetch(bytes, at_header_bytes, 2); size != file_header_bytes) {
    refuse("header size", size, "128");
  }
  const auto blocks = fetch(bytes, at_blocks, 8);
  if (blocks < 1 || blocks > std::numeric_limits<std::uint32_t>::max()) {
    refuse("block count", blocks, "1 to 4294967295");
  }
  header.shape = {static_cast<std::uint32_t>(blocks), static_cast<std::uint32_t>(k),
                  fetch(bytes, at_seed, 8), static_cast<key_hashing>(hash)};
  header.inserted_keys = fetch(bytes, at_inserted, 8);
  header.planned_keys = fetch(bytes, at_planned, 8);
  header.target_fpr = std::bit_cast<double>(fetch(bytes, at_fpr, 8));
  if (!(header.target_fpr >= 0 && header.target_fpr < 1) || std::signbit(header.target_fpr)) {
    bad_file(path, "the header's target rate is not from 0 up to 1");
  }
  header.body_bytes = fetch(bytes, at_body_bytes, 8);
  if (header.body_bytes != header.shape.bytes()) {
    refuse("body size", header.body_bytes,
           (std::to_string(header.shape.bytes()) + ", 64 for each block").c_str());
  }
  header.body_checksum = fetch(bytes, at_body_checksum, 8);
  for (std::size_t i = at_reserved; i < at_checksum; ++i) {
    if (bytes[i] != std::byte{0}) {
      bad_file(path, "byte " + std::to_string(i) +
                         " of the header is reserved and not zero: written by a newer octobloom?");
    }
  }
  return header;
}

filter_file_reader::filter_file_reader(const std::string& path)
    : path_(path),
      descriptor_(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); })) {
  if (descriptor_ < 0) io_error(path, "cannot be opened");
  try {
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) io_error(path, "cannot be examined");
    if (!S_ISREG(status.st_mode)) bad_file(path, "is not a regular file");
    const auto size = static_cast<std::uint64_t>(status.st_size);
    std::array<std::byte, file_header_bytes> bytes{};
    const auto present = static_cast<std::size_t>(std::min<std::uint64_t>(size, bytes.size()));
    if (!read_exactly(descriptor_, std::span(bytes).first(present), path)) {
      bad_file(path, "became shorter while it was read");
    }
    header_ = decode_header(std::span<const std::byte>(bytes).first(present), path);
    if (const std::uint64_t expected = file_header_bytes + header_.body_bytes; size != expected) {
      bad_file(path, "is " + std::to_string(size) + " bytes long, its header says " +
                         std::to_string(expected) +
                         (size < expected ? ": cut off" : ": something was appended"));
    }
  } catch (...) {
    close_quietly(descriptor_);
    throw;
  }
}

filter_file_reader::~filter_file_reader() {
  close_quietly(descriptor_);
}

void filter_file_reader::read_body(std::span<std::byte> body, const load_options& options) {
  if (!read_exactly(descriptor_, body, path_)) bad_file(path_, "became shorter while it was read");
  if (options.verify_body) verify_body(body);
}

void filter_file_reader::verify_body(std::span<const std::byte> body) const {
  if (xxh64(body.data(), body.size()) != header_.body_checksum) {
    bad_file(path_,
             "the body's checksum does not fit: the file is damaged, restore it or build the "
             "filter again");
  }
}

file_lock::file_lock(const std::string& path) : descriptor_(-1) {
  while (true) {
    descriptor_ = uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); });
    if (descriptor_ < 0) io_error(path, "cannot be opened");
    if (uninterrupted([&] { return flock(descriptor_, LOCK_EX); }) != 0) {
      const int code = errno;
      close_quietly(descriptor_);
      errno = code;
      io_error(path, "cannot be locked");
    }
    // While this waited, the holder may have replaced the file: then lock the new one.
    struct stat locked {};
    struct stat current {};
    if (fstat(descriptor_, &locked) == 0 && ::stat(path.c_str(), &current) == 0 &&
        locked.st_dev == current.st_dev && locked.st_ino == current.st_ino) {
      return;
    }
    close_quietly(descriptor_);
  }
}

file_lock::~file_lock() {
  close_quietly(descriptor_);
}

atomic_file::atomic_file(const std::string& path) : target_(path) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = uninterrupted([&] { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC); });
    if (descriptor_ < 0) io_error(path, "cannot be opened for writing");
    return;
  }
  if (exists) {
    if (char* resolved = realpath(path.c_str(), nullptr); resolved != nullptr) {
      target_ = resolved;
      std::free(resolved);
    }
  }
  temporary_ = target_ + ".tmp-XXXXXX";
  descriptor_ = mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) io_error(path, "no temporary file can be made beside it");
  // mkostemp makes private files; give the new file the mode that the old one or a plain open has.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const mode_t mode = exists ? status.st_mode & 07777u : 0666u & ~mask;
  if (fchmod(descriptor_, mode) != 0) {
    const int code = errno;
    ::unlink(temporary_.c_str());
    close_quietly(descriptor_);
    errno = code;
    io_error(path, "the mode of the temporary file beside it cannot be set");
  }
}

atomic_file::~atomic_file() {
  close_quietly(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void atomic_file::write(std::span<const std::byte> bytes) const {
  // Linux moves at most 2 GiB a call; shorter pieces keep the loop the same everywhere.
  constexpr std::size_t piece = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const ssize_t put = uninterrupted(
        [&] { return ::write(descriptor_, bytes.data(), std::min(bytes.size(), piece)); });
    if (put < 0) io_error(target_, "cannot be written");
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void atomic_file::commit() {
  if (temporary_.empty()) {
    close_quietly(descriptor_);
    return;
  }
  if (fsync(descriptor_) != 0) io_error(target_, "cannot be synced");
  if (::close(std::exchange(descriptor_, -1)) != 0) io_error(target_, "cannot be closed");
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) io_error(target_, "cannot be replaced");
  temporary_.clear();
  const auto slash = target_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : target_.substr(0, slash + 1);
  // The rename is durable once the folder is synced. Some file systems cannot do that: no error
  // then.
  int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) fsync(directory);
  close_quietly(directory);
}

void write_filter_file(const std::string& path, file_header header,
                       std::span<const std::byte> body) {
  header.body_bytes = body.size();
  header.body_checksum = xxh64(body.data(), body.size());
  atomic_file file(path);
  file.write(encode_header(header));
  file.write(body);
  file.commit();
}

}  // namespace octobloom
