#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <octobloom/filter_record.h>
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

/// The header's fields, less those that are constant.
struct file_header : filter_record {
  filter_kind kind = filter_kind::plain;
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

/// Takes the next bytes of a filter. What it throws comes out of the call that writes.
using byte_sink = std::function<void(std::span<const std::byte>)>;

/// Puts the next bytes of a stream into `piece` and tells how many: at least 1, 0 at its end.
using byte_source = std::function<std::size_t(std::span<std::byte> piece)>;

/// Where the bytes of a filter come from: a file, or memory. Its header and size have been checked.
/// Not thread safe.
class filter_reader {
 public:
  /// An open file. Throws error{io} or error{bad_file}; allocates nothing of the file's size.
  explicit filter_reader(const std::string& path);
  /// The bytes of a file; they have to outlive the reader. `name` is for messages. Throws
  /// error{bad_file}.
  explicit filter_reader(std::span<const std::byte> bytes, std::string name = "<bytes>");
  filter_reader(const filter_reader&) = delete;
  filter_reader& operator=(const filter_reader&) = delete;
  ~filter_reader();

  [[nodiscard]] const file_header& header() const noexcept { return header_; }
  /// Of the file; negative for bytes in memory.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  /// Throws error{bad_file} that names both kinds when another kind is there.
  void require_kind(filter_kind kind) const;

  /// Reads the body, header().body_bytes long, and checks it unless told otherwise. In memory it is
  /// 64-bit words of this machine. Throws error{io} or error{bad_file}.
  void read_body(std::span<std::byte> body, const load_options& options);

  /// The same in pieces of whole 64 bytes, in their order; finish_body() compares the checksum
  /// after the last.
  void read_piece(std::span<std::byte> piece, const load_options& options);
  void finish_body(const load_options& options) const;

  /// Throws error{bad_file}: "<name>: <what>".
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  void check_header(std::span<const std::byte> bytes, std::uint64_t size);

  std::string name_;
  int descriptor_ = -1;
  std::span<const std::byte> left_;  // of bytes in memory
  file_header header_;
  xxh64_stream body_hash_;
};

/// The bytes of one filter from a stream, as far as its header says and no further. Memory grows
/// with what has come. Throws error{bad_file}, and what `source` throws.
[[nodiscard]] std::vector<std::byte> read_filter_bytes(const byte_source& source);

/// Compares `body`, 64-bit words of this machine, with the header's checksum. `path` is for the
/// message. Throws error{bad_file}.
void verify_body(std::span<const std::byte> body, const file_header& header,
                 const std::string& path);

/// A filter on its way out: its header and, in order, the pieces of its body, each of whole 64
/// bytes, 64-bit words of this machine. They refer to the filter and to `table`.
struct encoded_filter {
  file_header header;            ///< the body's size and checksum are filled in when it is written
  std::vector<std::byte> table;  ///< what of the body is not in the filter's memory as it is
  std::vector<std::span<const std::byte>> pieces;

  encoded_filter() = default;
  encoded_filter(const encoded_filter&) = delete;
  encoded_filter& operator=(const encoded_filter&) = delete;
  encoded_filter(encoded_filter&&) = default;
  encoded_filter& operator=(encoded_filter&&) = default;
  ~encoded_filter() = default;

  /// Of the header and the body.
  [[nodiscard]] std::uint64_t bytes_size() const noexcept;
};

/// Writes the bytes of a file to `sink`.
void write_filter(const encoded_filter& filter, const byte_sink& sink);

/// Writes them to a file. Where there is one already, waits for its file_lock and then replaces it.
/// Throws error{io}.
void write_filter_file(const std::string& path, const encoded_filter& filter);

}  // namespace octobloom
