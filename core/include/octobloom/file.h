#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <octobloom/filter_view.h>
#include <octobloom/hash.h>
#include <octobloom/key_family.h>

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
  key_families families = 0;  ///< of the keys inserted so far; 0 = empty, or not known
  std::uint64_t body_bytes = 0;
  std::uint64_t body_checksum = 0;  ///< XXH64 of the body, seed 0
};

struct load_options {
  bool verify_body = true;  ///< compare the body with its checksum
};

/// Throws error{invalid_argument} when no file could tell of a filter with these: the hash is none,
/// or the target rate is not in [0, 1).
void require_storable(key_hashing hashing, double target_fpr);

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

  /// Reads the body, header().body_bytes long, as 64-bit words of this machine, and checks it
  /// unless told otherwise. Throws error{io} or error{bad_file}.
  void read_body(std::span<std::byte> body, const load_options& options);

  /// The same in pieces of whole 64 bytes, in the order of the file; finish_body() compares the
  /// checksum after the last.
  void read_piece(std::span<std::byte> piece, const load_options& options);
  void finish_body(const load_options& options) const;

  /// Throws error{bad_file}: "<path>: <what>".
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  std::string path_;
  int descriptor_;
  file_header header_;
  xxh64_stream body_hash_;
};

/// Compares `body`, 64-bit words of this machine, with the header's checksum. `path` is for the
/// message. Throws error{bad_file}.
void verify_body(std::span<const std::byte> body, const file_header& header,
                 const std::string& path);

/// Writes a filter file of `header` (its body fields are filled in here) and a body of `pieces`,
/// each of whole 64 bytes, 64-bit words of this machine. Where there is a file already, waits for
/// its file_lock and then replaces it. Throws error{io}.
void write_filter_file(const std::string& path, file_header header,
                       std::span<const std::span<const std::byte>> pieces);
void write_filter_file(const std::string& path, file_header header,
                       std::span<const std::byte> body);

}  // namespace octobloom
