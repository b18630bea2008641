#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <octobloom/filter_view.h>
#include <octobloom/hash.h>

/// Filter files, version 1: a header of 128 bytes and the body. docs/format.md describes every
/// field.
namespace octobloom {

/// What a file holds.
enum class filter_kind : std::uint8_t {
  plain = 0,
  growing = 1,
  counting = 2,
  cuckoo = 3,
  windowed = 4,
};

/// "plain", "growing", ...
[[nodiscard]] std::string_view to_string(filter_kind kind) noexcept;

inline constexpr std::size_t file_header_bytes = 128;
inline constexpr std::uint64_t file_version = 1;

/// The header's fields, in file order, less those that are constant. A cuckoo filter's shape has
/// its 64-byte lines for blocks and the bits of a fingerprint, 8 to 32, for k.
struct file_header {
  filter_kind kind = filter_kind::plain;
  filter_shape shape;
  std::uint64_t inserted_keys = 0;
  std::uint64_t planned_keys = 0;
  double target_fpr = 0;
  std::uint64_t body_bytes = 0;
  std::uint64_t body_checksum = 0;  ///< XXH64 of the body, seed 0
};

struct load_options {
  bool verify_body = true;  ///< compare the body with its checksum
};

/// The 128 bytes of `header`, its checksum included.
[[nodiscard]] std::array<std::byte, file_header_bytes> encode_header(const file_header& header);

/// Checks magic, version, checksum and every field's range. `path` is for the message. Throws
/// error{bad_file} that names the field.
[[nodiscard]] file_header decode_header(std::span<const std::byte> bytes, const std::string& path);

/// An open filter file whose header and size have been checked. Not thread safe.
class filter_file_reader {
 public:
  /// Throws error{io} or error{bad_file}; allocates nothing of the file's size.
  explicit filter_file_reader(const std::string& path);
  filter_file_reader(const filter_file_reader&) = delete;
  filter_file_reader& operator=(const filter_file_reader&) = delete;
  ~filter_file_reader();

  [[nodiscard]] const file_header& header() const noexcept { return header_; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  /// Throws error{bad_file} that names both kinds when the file holds another kind.
  void require_kind(filter_kind kind) const;

  /// Reads the body, header().body_bytes long, and checks it unless told otherwise. Throws
  /// error{io} or error{bad_file}.
  void read_body(std::span<std::byte> body, const load_options& options);

  /// The same in pieces of whole 64 bytes, in the order of the file; finish_body() compares the
  /// checksum after the last.
  void read_piece(std::span<std::byte> piece, const load_options& options);
  void finish_body(const load_options& options) const;

  /// Throws error{bad_file}: "<path>: <what>".
  [[noreturn]] void refuse(const std::string& what) const;

  /// Compares `body` with the header's checksum. Throws error{bad_file}.
  void verify_body(std::span<const std::byte> body) const;

 private:
  void require_checksum(std::uint64_t found) const;

  std::string path_;
  int descriptor_;
  file_header header_;
  xxh64_stream body_hash_;
};

/// An exclusive lock on a filter file, across processes, for read-modify-write: waits until it is
/// free, and survives that the file is replaced meanwhile. Throws error{io}.
class file_lock {
 public:
  explicit file_lock(const std::string& path);
  file_lock(const file_lock&) = delete;
  file_lock& operator=(const file_lock&) = delete;
  ~file_lock();

 private:
  int descriptor_;
};

/// A file that appears whole or not at all: bytes go to a temporary file beside `path`; commit()
/// syncs it and renames it over `path`; without commit() it is removed and `path` stays as it was.
/// Mode, owner and group of an existing file are kept as far as the process may set them; where the
/// group cannot be kept, the new one is given no more than everybody has. Symbolic links are
/// followed, also to a file that is not there yet, and what is not a regular file (a pipe,
/// /dev/null) is written directly.
class atomic_file {
 public:
  /// Throws error{io}.
  explicit atomic_file(const std::string& path);
  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;
  ~atomic_file();

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// The temporary file's name, for those who tidy up when a signal ends the process; empty when
  /// the target is written directly.
  [[nodiscard]] const std::string& temporary() const noexcept { return temporary_; }
  /// Writes all of `bytes`. Throws error{io}, naming the file.
  void write(std::span<const std::byte> bytes) const;
  /// Throws error{io}; the target is then as it was.
  void commit();

 private:
  std::string target_;
  std::string temporary_;  // empty when the target is written directly
  int descriptor_ = -1;
};

/// Writes a filter file of `header` (its body fields are filled in here) and a body of `pieces`,
/// each of whole 64 bytes. Throws error{io}.
void write_filter_file(const std::string& path, file_header header,
                       std::span<const std::span<const std::byte>> pieces);
void write_filter_file(const std::string& path, file_header header,
                       std::span<const std::byte> body);

}  // namespace octobloom
