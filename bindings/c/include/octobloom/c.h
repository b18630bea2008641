#ifndef OCTOBLOOM_C_H
#define OCTOBLOOM_C_H

/*
 * octobloom for C, and for everything that speaks it. C99.
 *
 * Functions that can fail return an octobloom_status: 0, or why not. The sentence behind it, what
 * went wrong and what to do, is octobloom_message() until the next failure on this thread. After
 * an error nothing is half done, unless a function says so; results that were asked for are not
 * written. No exception leaves these functions, and null where a pointer is needed is an error.
 *
 * Concurrent calls are safe as long as one object is only read, or only used by one thread.
 * Objects are created by create, load and snapshot functions and freed by their destroy function,
 * which takes null.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// NOLINTBEGIN(modernize-use-using): this is C.

typedef enum octobloom_status {
  OCTOBLOOM_OK = 0,
  OCTOBLOOM_INVALID_ARGUMENT = 1,
  OCTOBLOOM_OUT_OF_MEMORY = 2,
  OCTOBLOOM_IO = 3,
  OCTOBLOOM_BAD_FILE = 4,
  OCTOBLOOM_MISMATCH = 5,
  OCTOBLOOM_WRONG_KEY = 6,
  OCTOBLOOM_ENGINE_UNAVAILABLE = 7,
  OCTOBLOOM_FULL = 8,
  OCTOBLOOM_DEVICE = 9,
  OCTOBLOOM_INTERNAL = 100 /* a fault of octobloom: please report it with the message */
} octobloom_status;

/* Of this thread's last error; "" before the first. Valid until the next one. */
const char* octobloom_message(void);
/* "bad_file" and so on; "ok" for 0. */
const char* octobloom_status_name(octobloom_status status);
/* Of the library, "1.2.3". */
const char* octobloom_version(void);

/* ---- hashes ---------------------------------------------------------------------------------- */

/* XXH64 of the bytes; `bytes` may be null when `size` is 0. */
uint64_t octobloom_hash_bytes(const void* bytes, size_t size, uint64_t seed);
/* An integer key, widened to 64 bits: signed ones by their two's complement. */
uint64_t octobloom_hash_integer(uint64_t value, uint64_t seed);
/* A floating-point key: one zero, one NaN. */
uint64_t octobloom_hash_double(double value, uint64_t seed);

/* ---- keys ------------------------------------------------------------------------------------ */

typedef enum octobloom_key_kind {
  OCTOBLOOM_INTEGERS = 0, /* `values`, hashed as eight bytes */
  OCTOBLOOM_HASHES = 1,   /* `values`, used as they are */
  OCTOBLOOM_STRINGS = 2   /* string i: from bytes + offsets[i] to offsets[i + 1] - separator */
} octobloom_key_kind;

/*
 * What keys were before they became 64 bits; in a set of families a bit each. 5 and "5" are two
 * keys: a question, or a removal, with keys of a family that was never inserted is
 * OCTOBLOOM_WRONG_KEY, unless the filter is empty or its families are not known (0).
 */
typedef enum octobloom_family {
  OCTOBLOOM_FAMILY_INTEGERS = 1, /* every width, booleans, dates, times, decimals */
  OCTOBLOOM_FAMILY_FLOATS = 2,
  OCTOBLOOM_FAMILY_STRINGS = 4,
  OCTOBLOOM_FAMILY_COMPOSITES = 8,
  OCTOBLOOM_FAMILY_HASHES = 16 /* ready hashes of whatever it was */
} octobloom_family;

/* Many keys of one kind, in the caller's memory. Fields of other kinds are not looked at. */
typedef struct octobloom_keys {
  int32_t kind; /* an octobloom_key_kind */
  size_t count;
  const uint64_t* values;
  const char* bytes;
  const uint64_t* offsets; /* count + 1, each at least the one before and the separator: checked */
  uint64_t separator;      /* bytes between neighbours: 0 for columns, 1 for lines of text */
  int32_t family;          /* 0: as the kind says. Of hashes, the octobloom_family that they were
                              made of; OCTOBLOOM_FAMILY_FLOATS for integers that are the bits of
                              doubles (one zero, one NaN) */
} octobloom_keys;

/*
 * Results for many keys: bit i mod 8 of byte i / 8 of a bitmap of (count + 7) / 8 bytes, the tail
 * zero; null when only the count is wanted. `threads` is 0 for as many as there are cores; results
 * are the same at any number.
 */

/* ---- plans ----------------------------------------------------------------------------------- */

typedef struct octobloom_plan {
  uint64_t expected_keys; /* 0: unplanned */
  double target_fpr;      /* 0: unplanned */
  uint32_t blocks;        /* of 64 bytes */
  uint32_t k;             /* bits a key, 1 to 24 */
  double expected_fpr;    /* at expected_keys; 0 when unplanned */
} octobloom_plan;

/* The smallest filter for `keys` at false-positive rate `fpr`, 1e-8 <= fpr < 1. */
octobloom_status octobloom_plan_for(uint64_t keys, double fpr, octobloom_plan* plan);
/* The lowest rate for `keys` in at most `bytes`. */
octobloom_status octobloom_plan_with_memory(uint64_t bytes, uint64_t keys, octobloom_plan* plan);
octobloom_status octobloom_plan_with_blocks(uint64_t blocks, uint32_t k, octobloom_plan* plan);

typedef struct octobloom_options {
  uint64_t seed;
  int32_t callers_hashes; /* not 0: the filter takes OCTOBLOOM_HASHES only, and its file says so */
} octobloom_options;      /* a null pointer to it: zeros */

/* What a filter is. */
typedef struct octobloom_info {
  uint32_t blocks; /* growing: of the newest level */
  uint32_t k;      /* growing: of the newest level */
  uint64_t seed;
  int32_t callers_hashes;
  uint32_t levels;        /* growing: of them; otherwise 1 */
  uint64_t bytes;         /* everything that is kept: all levels, counters included */
  uint64_t planned_keys;  /* growing: those of the first level */
  uint64_t inserted_keys; /* calls, less removals */
  double target_fpr;
  uint32_t families; /* of the keys inserted so far; 0: none, or not known */
} octobloom_info;

/* Whether a filter keeps its target rate, by its bits, whatever it was told of keys. */
typedef enum octobloom_verdict {
  OCTOBLOOM_VERDICT_FINE = 0,     /* it does, or misses it by chance alone */
  OCTOBLOOM_VERDICT_FULL = 1,     /* up to twice the target; unplanned: from 60 % of the bits set */
  OCTOBLOOM_VERDICT_OVER_FULL = 2 /* beyond that; unplanned: from 90 % of the bits set */
} octobloom_verdict;

/* "fine", "full", "over-full"; "unknown" for other numbers. */
const char* octobloom_verdict_name(octobloom_verdict verdict);

/* What its bits say. Asking reads the whole filter. */
typedef struct octobloom_statistics {
  double fill;           /* share of the bits that are set */
  double estimated_keys; /* distinct keys; negative when every bit is set */
  double current_fpr;    /* chance that a new, random key is taken for a known one */
  double fpr_error;      /* how far chance alone moves current_fpr */
  octobloom_verdict verdict;
} octobloom_statistics;

/* ---- views: filters in the caller's memory --------------------------------------------------- */

/*
 * `words` is aligned to 64 bytes and holds 8 * blocks words, all zero for an empty filter. The
 * same bits as octobloom_filter; nothing is counted. Functions that only read do not write there.
 */
typedef struct octobloom_view {
  uint64_t* words;
  uint32_t blocks;
  uint32_t k;
  uint64_t seed;
  int32_t callers_hashes;
} octobloom_view;

octobloom_status octobloom_view_insert(const octobloom_view* view, const octobloom_keys* keys,
                                       uint32_t threads);
octobloom_status octobloom_view_insert_new(const octobloom_view* view, const octobloom_keys* keys,
                                           uint8_t* bitmap, uint64_t* fresh, uint32_t threads);
octobloom_status octobloom_view_may_contain(const octobloom_view* view, const octobloom_keys* keys,
                                            uint8_t* bitmap, uint64_t* found, uint32_t threads);
/* Judged as unplanned: by its fill. */
octobloom_status octobloom_view_get_statistics(const octobloom_view* view,
                                               octobloom_statistics* statistics);

/* ---- plain filters --------------------------------------------------------------------------- */

typedef struct octobloom_filter octobloom_filter;

octobloom_status octobloom_filter_create(const octobloom_plan* plan,
                                         const octobloom_options* options,
                                         octobloom_filter** filter);
void octobloom_filter_destroy(octobloom_filter* filter);
/* `verify` 0 skips the checksum of the body. */
octobloom_status octobloom_filter_load(const char* path, int32_t verify, octobloom_filter** filter);
/*
 * To a temporary file, then put in its place: the old file or the new one, whatever happens. Waits
 * while another program holds the file's lock (flock).
 */
octobloom_status octobloom_filter_save(const octobloom_filter* filter, const char* path);
/*
 * The bytes of a file, in memory: writes them to `bytes`, which has room for `capacity`, and their
 * number to `size`. With a null `bytes` only the number. Nothing is written when they do not fit.
 */
octobloom_status octobloom_filter_to_bytes(const octobloom_filter* filter, void* bytes,
                                           uint64_t capacity, uint64_t* size);
/* Back from all `size` bytes, which are copied; checked as a file is. */
octobloom_status octobloom_filter_from_bytes(const void* bytes, uint64_t size, int32_t verify,
                                             octobloom_filter** filter);

octobloom_status octobloom_filter_insert(octobloom_filter* filter, const octobloom_keys* keys,
                                         uint32_t threads);
/* Tells for each key, in order, whether it was absent, and inserts it. `fresh` may be null. */
octobloom_status octobloom_filter_insert_new(octobloom_filter* filter, const octobloom_keys* keys,
                                             uint8_t* bitmap, uint64_t* fresh, uint32_t threads);
/* `found` may be null. Never a false "no". */
octobloom_status octobloom_filter_may_contain(const octobloom_filter* filter,
                                              const octobloom_keys* keys, uint8_t* bitmap,
                                              uint64_t* found, uint32_t threads);
/*
 * One key by its hash, which was made of a key of `family` (an octobloom_family;
 * OCTOBLOOM_FAMILY_HASHES, or 0, when that is not known). Filters must not be null here; 1 or 0,
 * and -OCTOBLOOM_WRONG_KEY, with the sentence in octobloom_message(), for a family that was never
 * inserted.
 */
void octobloom_filter_insert_hash(octobloom_filter* filter, uint64_t hash, int32_t family);
int32_t octobloom_filter_insert_new_hash(octobloom_filter* filter, uint64_t hash, int32_t family);
int32_t octobloom_filter_may_contain_hash(const octobloom_filter* filter, uint64_t hash,
                                          int32_t family);
/* `any` not 0: from now on, questions of every family are answered; 0 takes it back. */
octobloom_status octobloom_filter_accept_any_family(octobloom_filter* filter, int32_t any);
/*
 * What was written into the filter's memory by octobloom_filter_get_view: adds `keys` to the number
 * of keys inserted; their families become unknown when `family` is 0.
 */
octobloom_status octobloom_filter_count_inserted(octobloom_filter* filter, uint64_t keys,
                                                 int32_t family);

/* Adds the keys of `other`, which has the same blocks, k, seed and hashing. */
octobloom_status octobloom_filter_merge(octobloom_filter* filter, const octobloom_filter* other);
octobloom_status octobloom_filter_clear(octobloom_filter* filter);
octobloom_status octobloom_filter_get_info(const octobloom_filter* filter, octobloom_info* info);
octobloom_status octobloom_filter_get_statistics(const octobloom_filter* filter,
                                                 octobloom_statistics* statistics);
/* The filter's own memory as a view, valid until it is destroyed. */
octobloom_status octobloom_filter_get_view(octobloom_filter* filter, octobloom_view* view);

/* ---- growing filters: no final size ---------------------------------------------------------- */

typedef struct octobloom_growing octobloom_growing;

/*
 * Starts with room for `initial_keys`; the rate of all levels together stays at most `fpr`. Each
 * level is `growth` times the one before (2 to 16; 0: 2) and closed at the share `grow_at` of its
 * keys (0.1 to 1; 0: 1).
 */
octobloom_status octobloom_growing_create(uint64_t initial_keys, double fpr, uint32_t growth,
                                          double grow_at, const octobloom_options* options,
                                          octobloom_growing** filter);
void octobloom_growing_destroy(octobloom_growing* filter);
octobloom_status octobloom_growing_load(const char* path, int32_t verify,
                                        octobloom_growing** filter);
octobloom_status octobloom_growing_save(const octobloom_growing* filter, const char* path);
octobloom_status octobloom_growing_to_bytes(const octobloom_growing* filter, void* bytes,
                                            uint64_t capacity, uint64_t* size);
octobloom_status octobloom_growing_from_bytes(const void* bytes, uint64_t size, int32_t verify,
                                              octobloom_growing** filter);
/* When a level cannot be added (out of memory, full), the keys before that are in. */
octobloom_status octobloom_growing_insert(octobloom_growing* filter, const octobloom_keys* keys,
                                          uint32_t threads);
octobloom_status octobloom_growing_insert_new(octobloom_growing* filter, const octobloom_keys* keys,
                                              uint8_t* bitmap, uint64_t* fresh, uint32_t threads);
octobloom_status octobloom_growing_may_contain(const octobloom_growing* filter,
                                               const octobloom_keys* keys, uint8_t* bitmap,
                                               uint64_t* found, uint32_t threads);
octobloom_status octobloom_growing_accept_any_family(octobloom_growing* filter, int32_t any);
octobloom_status octobloom_growing_clear(octobloom_growing* filter);
octobloom_status octobloom_growing_get_info(const octobloom_growing* filter, octobloom_info* info);
/* estimated_keys is the number of keys that were told new. */
octobloom_status octobloom_growing_get_statistics(const octobloom_growing* filter,
                                                  octobloom_statistics* statistics);

/* ---- counting filters: keys can be removed --------------------------------------------------- */

typedef struct octobloom_counting octobloom_counting;

octobloom_status octobloom_counting_create(const octobloom_plan* plan,
                                           const octobloom_options* options,
                                           octobloom_counting** filter);
void octobloom_counting_destroy(octobloom_counting* filter);
octobloom_status octobloom_counting_load(const char* path, int32_t verify,
                                         octobloom_counting** filter);
octobloom_status octobloom_counting_save(const octobloom_counting* filter, const char* path);
octobloom_status octobloom_counting_to_bytes(const octobloom_counting* filter, void* bytes,
                                             uint64_t capacity, uint64_t* size);
octobloom_status octobloom_counting_from_bytes(const void* bytes, uint64_t size, int32_t verify,
                                               octobloom_counting** filter);
octobloom_status octobloom_counting_insert(octobloom_counting* filter, const octobloom_keys* keys,
                                           uint32_t threads);
/* Inserts only the keys that are absent. */
octobloom_status octobloom_counting_insert_new(octobloom_counting* filter,
                                               const octobloom_keys* keys, uint8_t* bitmap,
                                               uint64_t* fresh, uint32_t threads);
octobloom_status octobloom_counting_may_contain(const octobloom_counting* filter,
                                                const octobloom_keys* keys, uint8_t* bitmap,
                                                uint64_t* found, uint32_t threads);
/*
 * Takes back one insertion of each key. Keys that are certainly absent are left out and reported:
 * their bits in the bitmap are 0. Remove only what was inserted.
 */
octobloom_status octobloom_counting_remove(octobloom_counting* filter, const octobloom_keys* keys,
                                           uint8_t* bitmap, uint64_t* removed, uint32_t threads);
octobloom_status octobloom_counting_accept_any_family(octobloom_counting* filter, int32_t any);
octobloom_status octobloom_counting_merge(octobloom_counting* filter,
                                          const octobloom_counting* other);
octobloom_status octobloom_counting_clear(octobloom_counting* filter);
/* A plain filter of the same keys. */
octobloom_status octobloom_counting_snapshot(const octobloom_counting* filter,
                                             octobloom_filter** snapshot);
octobloom_status octobloom_counting_get_info(const octobloom_counting* filter,
                                             octobloom_info* info);
octobloom_status octobloom_counting_get_statistics(const octobloom_counting* filter,
                                                   octobloom_statistics* statistics);

// NOLINTEND(modernize-use-using)

#ifdef __cplusplus
}
#endif

#endif
