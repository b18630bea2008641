#include <octobloom/file.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <octobloom/atomic_file.h>
#include <octobloom/error.h>
#include <octobloom/hash.h>

#include "file_system.h"
#include "little_endian.h"

namespace octobloom {

namespace {

constexpr std::array<char, 8> magic{'O', 'C', 'T', 'O', 'B', 'L', 'M', '\n'};
constexpr std::uint64_t layout_rot8 = 1;
constexpr std::uint64_t layout_cuckoo = 2;
constexpr std::uint64_t max_hash_id = 1;

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
constexpr std::size_t at_families = 72;
constexpr std::size_t at_reserved = 73;
constexpr std::size_t at_notes = 104;  // of later writers, which change no answer
constexpr std::size_t at_checksum = 120;

[[noreturn]] void bad_file(const std::string& path, const std::string& what) {
  throw error(error_code::bad_file, path + ": " + what);
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
        detail::uninterrupted([&] { return ::read(descriptor, bytes.data(), bytes.size()); });
    if (got < 0) detail::io_error(path, "cannot be read");
    if (got == 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

/// What a kind asks of its header.
struct kind_rules {
  std::string_view name;
  std::uint64_t layout;
  std::uint64_t min_k;
  std::uint64_t max_k;
  std::uint64_t bytes_per_block;  // of the body; 0: a table in the body says its size
};

constexpr std::array<kind_rules, 5> kinds{{
    {"plain", layout_rot8, 1, rot8::max_k, 64},
    {"growing", layout_rot8, 1, rot8::max_k, 0},
    {"counting", layout_rot8, 1, rot8::max_k, 64 + 256},
    {"cuckoo", layout_cuckoo, 8, 32, 64},
    {"windowed", layout_rot8, 1, rot8::max_k, 0},
}};

const kind_rules& rules_of(filter_kind kind) noexcept {
  return kinds[static_cast<std::size_t>(kind)];
}

void require_checksum(const file_header& header, std::uint64_t found, const std::string& path) {
  if (found == header.body_checksum) return;
  bad_file(path,
           "the body's checksum does not fit: the file is damaged, restore it or build the filter "
           "again");
}

bool valid_target(double target_fpr) noexcept {
  return target_fpr >= 0 && target_fpr < 1 && !std::signbit(target_fpr);
}

std::string range_text(std::uint64_t first, std::uint64_t last) {
  return std::to_string(first) + " to " + std::to_string(last);
}

}  // namespace

std::string_view to_string(filter_kind kind) noexcept {
  const auto index = static_cast<std::size_t>(kind);
  return index < kinds.size() ? kinds[index].name : "unknown";
}

void require_storable(key_hashing hashing, double target_fpr) {
  if (!valid_target(target_fpr)) {
    throw error(error_code::invalid_argument,
                "a filter's target rate is from 0 (unplanned) up to, not including, 1, not " +
                    std::to_string(target_fpr) + ": size it with plan_for()");
  }
  if (const auto id = static_cast<unsigned>(hashing); id > max_hash_id) {
    throw error(error_code::invalid_argument,
                "a filter's hashes are the caller's (0) or XXH64 (1), not " + std::to_string(id));
  }
}

std::array<std::byte, file_header_bytes> encode_header(const file_header& header) {
  std::array<std::byte, file_header_bytes> bytes{};
  std::memcpy(bytes.data(), magic.data(), magic.size());
  store(bytes, at_version, 2, file_version);
  store(bytes, at_kind, 1, static_cast<std::uint64_t>(header.kind));
  store(bytes, at_hash, 1, static_cast<std::uint64_t>(header.shape.hashing));
  store(bytes, at_layout, 1, rules_of(header.kind).layout);
  store(bytes, at_k, 1, header.shape.k);
  store(bytes, at_header_bytes, 2, file_header_bytes);
  store(bytes, at_blocks, 8, header.shape.blocks);
  store(bytes, at_seed, 8, header.shape.seed);
  store(bytes, at_inserted, 8, header.inserted_keys);
  store(bytes, at_planned, 8, header.planned_keys);
  store(bytes, at_fpr, 8, std::bit_cast<std::uint64_t>(header.target_fpr));
  store(bytes, at_body_bytes, 8, header.body_bytes);
  store(bytes, at_body_checksum, 8, header.body_checksum);
  store(bytes, at_families, 1, header.families);
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
  const auto refuse = [&](const char* field, std::uint64_t value, const std::string& expected) {
    bad_file(path, std::string("the header's ") + field + " is " + std::to_string(value) +
                       ", expected " + expected);
  };
  file_header header;
  const auto kind = fetch(bytes, at_kind, 1);
  if (kind >= kinds.size()) refuse("kind", kind, "0 to 4: written by a newer octobloom?");
  header.kind = static_cast<filter_kind>(kind);
  const kind_rules& rules = rules_of(header.kind);
  const auto hash = fetch(bytes, at_hash, 1);
  if (hash > max_hash_id) refuse("hash id", hash, "0 (the caller's) or 1 (XXH64)");
  if (const auto layout = fetch(bytes, at_layout, 1); layout != rules.layout) {
    refuse("layout id", layout, rules.layout == layout_rot8 ? "1 (rot8)" : "2 (cuckoo)");
  }
  const auto k = fetch(bytes, at_k, 1);
  if (k < rules.min_k || k > rules.max_k) refuse("k", k, range_text(rules.min_k, rules.max_k));
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
  if (!valid_target(header.target_fpr)) {
    bad_file(path, "the header's target rate is not from 0 up to 1");
  }
  header.body_bytes = fetch(bytes, at_body_bytes, 8);
  if (rules.bytes_per_block == 0) {
    // A window may be without layers: then there is only the table.
    const std::uint64_t least = header.kind == filter_kind::windowed ? 0 : header.shape.bytes();
    if (header.body_bytes % 64 != 0 || header.body_bytes <= least) {
      refuse("body size", header.body_bytes, "a multiple of 64 above " + std::to_string(least));
    }
    if (header.body_bytes > std::numeric_limits<std::uint64_t>::max() - file_header_bytes) {
      refuse("body size", header.body_bytes, "less than 2^64 - 128");
    }
  } else if (const auto size = header.shape.blocks * rules.bytes_per_block;
             header.body_bytes != size) {
    refuse("body size", header.body_bytes,
           std::to_string(size) + ", " + std::to_string(rules.bytes_per_block) + " for each block");
  }
  header.body_checksum = fetch(bytes, at_body_checksum, 8);
  const auto families = fetch(bytes, at_families, 1);
  if ((families & ~std::uint64_t{all_key_families}) != 0) {
    refuse("key families", families, "0 to 31: written by a newer octobloom?");
  }
  header.families = static_cast<key_families>(families);
  for (std::size_t i = at_reserved; i < at_notes; ++i) {
    if (bytes[i] != std::byte{0}) {
      bad_file(path, "byte " + std::to_string(i) +
                         " of the header is reserved and not zero: written by a newer octobloom?");
    }
  }
  return header;
}

filter_reader::filter_reader(const std::string& path)
    : name_(path), descriptor_(detail::open_regular(path, O_RDONLY)) {
  if (descriptor_ < 0) detail::io_error(path, "cannot be opened");
  try {
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) detail::io_error(path, "cannot be examined");
    const auto size = static_cast<std::uint64_t>(status.st_size);
    std::array<std::byte, file_header_bytes> bytes{};
    const auto present = static_cast<std::size_t>(std::min<std::uint64_t>(size, bytes.size()));
    if (!read_exactly(descriptor_, std::span(bytes).first(present), path)) {
      bad_file(path, "became shorter while it was read");
    }
    check_header(std::span<const std::byte>(bytes).first(present), size);
  } catch (...) {
    detail::close_quietly(descriptor_);
    throw;
  }
}

filter_reader::filter_reader(std::span<const std::byte> bytes, std::string name)
    : name_(std::move(name)) {
  check_header(bytes, bytes.size());
  left_ = bytes.subspan(file_header_bytes);
}

filter_reader::~filter_reader() {
  detail::close_quietly(descriptor_);
}

void filter_reader::check_header(std::span<const std::byte> bytes, std::uint64_t size) {
  header_ = decode_header(bytes, name_);
  if (const std::uint64_t expected = file_header_bytes + header_.body_bytes; size != expected) {
    refuse("is " + std::to_string(size) + " bytes long, its header says " +
           std::to_string(expected) + (size < expected ? ": cut off" : ": something was appended"));
  }
}

void filter_reader::require_kind(filter_kind kind) const {
  if (header_.kind == kind) return;
  bad_file(name_, "holds a " + std::string(to_string(header_.kind)) + " filter, not a " +
                      std::string(to_string(kind)) + " one: open it as what it is");
}

void filter_reader::read_body(std::span<std::byte> body, const load_options& options) {
  read_piece(body, options);
  finish_body(options);
}

void filter_reader::read_piece(std::span<std::byte> piece, const load_options& options) {
  if (descriptor_ < 0) {
    std::copy_n(left_.begin(), piece.size(), piece.begin());
    left_ = left_.subspan(piece.size());
  } else if (!read_exactly(descriptor_, piece, name_)) {
    refuse("became shorter while it was read");
  }
  if (options.verify_body) body_hash_.add(piece.data(), piece.size());
  detail::swap_to_little_endian(piece);
}

void filter_reader::finish_body(const load_options& options) const {
  if (options.verify_body) require_checksum(header_, body_hash_.digest(), name_);
}

void filter_reader::refuse(const std::string& what) const {
  bad_file(name_, what);
}

std::vector<std::byte> read_filter_bytes(const byte_source& source) {
  const std::string name = "<stream>";
  std::vector<std::byte> bytes;
  const auto fill = [&](std::size_t size) {
    std::size_t have = bytes.size();
    bytes.resize(size);
    while (have < size) {
      const std::size_t got = source(std::span(bytes).subspan(have));
      if (got == 0) {
        bytes.resize(have);
        return false;
      }
      have += got;
    }
    return true;
  };
  (void)fill(file_header_bytes);
  const std::uint64_t size = file_header_bytes + decode_header(bytes, name).body_bytes;
  constexpr std::size_t least_piece = std::size_t{1} << 16;
  while (bytes.size() < size) {
    const std::size_t piece = std::max(bytes.size(), least_piece);
    if (!fill(static_cast<std::size_t>(std::min<std::uint64_t>(size, bytes.size() + piece)))) {
      bad_file(name, "ends after " + std::to_string(bytes.size()) + " bytes, its header says " +
                         std::to_string(size) + ": cut off");
    }
  }
  return bytes;
}

void verify_body(std::span<const std::byte> body, const file_header& header,
                 const std::string& path) {
  xxh64_stream hash;
  detail::for_little_endian(body, [&](auto bytes) { hash.add(bytes.data(), bytes.size()); });
  require_checksum(header, hash.digest(), path);
}

std::uint64_t encoded_filter::bytes_size() const noexcept {
  std::uint64_t size = file_header_bytes;
  for (const auto& piece : pieces) size += piece.size();
  return size;
}

void write_filter(const encoded_filter& filter, const byte_sink& sink) {
  file_header header = filter.header;
  header.body_bytes = filter.bytes_size() - file_header_bytes;
  xxh64_stream hash;
  for (const auto& piece : filter.pieces) {
    detail::for_little_endian(piece, [&](auto bytes) { hash.add(bytes.data(), bytes.size()); });
  }
  header.body_checksum = hash.digest();
  sink(encode_header(header));
  for (const auto& piece : filter.pieces) {
    detail::for_little_endian(piece, [&](auto bytes) { sink(bytes); });
  }
}

void write_filter_file(const std::string& path, const encoded_filter& filter) {
  atomic_file file(path, atomic_file::locking::target);
  write_filter(filter, [&](std::span<const std::byte> bytes) { file.write(bytes); });
  file.commit();
}

}  // namespace octobloom
