#ifndef OCTOBLOOM_C_H
#define OCTOBLOOM_C_H

/*
 * octobloom for C, and for everything that speaks it. C99. Version 1 of the ABI: what is here keeps
 * its meaning, and later versions add functions, and fields at the end of the structs that begin
 * with their size.
 *
 * Functions that can fail return an octobloom_status: 0, or why not. The sentence behind it, what
 * went wrong and what to do, is octobloom_message() until the next failure on this thread. After
 * an error nothing is half done, unless a function says so; results that were asked for are not
 * written. No exception leaves these functions, and null where a pointer is needed is an error.
 *
 * Structs that begin with `size` are options and results that may grow: set all of them to zero,
 * then `size` to the struct's sizeof. Zeros are the defaults, and a null pointer to options is
 * zeros. Options that this library is too old to know are an error unless they are zero; of results
 * it fills what it knows and sets the rest to zero.
 *
 * Threads: one filter may be asked by any number of threads at once (functions that take it as
 * const), or written to by one. Different filters do not know of each other.
 */

#include <stddef.h>
#include <stdint.h>

#include <octobloom/arrow_abi.h>

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
  OCTOBLOOM_FAMILY_COMPOSITES = 8, /* several columns together */
  OCTOBLOOM_FAMILY_HASHES = 16     /* ready hashes of whatever it was */
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

/* How a call for many keys works. */
typedef struct octobloom_call_options {
  size_t size;
  const char* engine; /* "simd", "reference", "cuda", "auto"; null: the filter's, see
                         octobloom_filter_use; for views the process's default */
  uint32_t threads;   /* 0: one. OCTOBLOOM_ALL_THREADS: as many as there are cores. Results are the
                         same at any number */
  int32_t any_family; /* not 0: go on where keys of their family were never inserted */
} octobloom_call_options;

#define OCTOBLOOM_ALL_THREADS UINT32_MAX

/* ---- engines --------------------------------------------------------------------------------- */

/* The name of the engine that works where none is named; null, with a message, when the environment
   forces one that cannot run. */
const char* octobloom_default_engine(void);
/* OCTOBLOOM_ENGINE_UNAVAILABLE, with what is missing, when that engine cannot run here. */
octobloom_status octobloom_engine_require(const char* engine);

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

/* ---- filters of every kind ------------------------------------------------------------------- */

/* Numbers are those of filter files. */
typedef enum octobloom_kind {
  OCTOBLOOM_PLAIN = 0,
  OCTOBLOOM_GROWING = 1,  /* has no final size */
  OCTOBLOOM_COUNTING = 2, /* takes keys back, at five times the memory */
  OCTOBLOOM_CUCKOO = 3,   /* takes keys back, at about the same memory */
  OCTOBLOOM_WINDOWED = 4  /* remembers the last so many events, or so long */
} octobloom_kind;

/* What kinds can, a bit each. */
typedef enum octobloom_ability {
  OCTOBLOOM_CAN_REMOVE = 1,
  OCTOBLOOM_CAN_MERGE = 2, /* windowed filters by time only */
  OCTOBLOOM_CAN_GROW = 4,
  OCTOBLOOM_CAN_FORGET = 8
} octobloom_ability;

/* "plain" and so on; null for numbers that are no kind: they end where this begins. */
const char* octobloom_kind_name(int32_t kind);
/* 0 for numbers that are no kind. */
uint32_t octobloom_kind_abilities(int32_t kind);

/* What a new filter is to be. What does not concern its kind has to be 0. */
typedef struct octobloom_create_options {
  size_t size;
  int32_t kind;           /* an octobloom_kind */
  int32_t callers_hashes; /* not 0: it takes OCTOBLOOM_HASHES only, and its file says so */
  uint64_t seed;
  /* Size: for so many keys at such a rate, as octobloom_plan_for takes them. Growing: of the first
     level; the rate is that of all levels together. Windowed by time: of the window; by events: the
     rate alone. */
  uint64_t expected_keys;
  double target_fpr;
  /* Plain and counting, instead: blocks of 64 bytes, and bits a key. The two above are then what is
     recorded as the plan, or 0. An octobloom_plan goes into these four. */
  uint64_t blocks;
  uint32_t k;
  /* Growing: each level is so many times the one before, 2 to 16 (0: 2), */
  uint32_t growth;
  /* and closed at this share of its keys, 0.1 to 1 (0: 1). */
  double grow_at;
  /* Windowed: one of the two, */
  uint64_t window_events;
  uint64_t window_nanoseconds;
  /* and its parts, 1 to 64 (0: 4): a key is remembered at most one part longer. */
  uint32_t window_parts;
  uint32_t reserved;  /* 0 */
  const char* engine; /* see octobloom_filter_use; null: the process's default */
} octobloom_create_options;

typedef struct octobloom_load_options {
  size_t size;
  uint32_t kinds;      /* which are welcome, bit 1 << kind each; 0: all */
  int32_t skip_verify; /* not 0: the body is not compared with its checksum */
  const char* engine;  /* as of octobloom_create_options */
} octobloom_load_options;

/* A filter of any kind. What its kind cannot do is OCTOBLOOM_INVALID_ARGUMENT. */
typedef struct octobloom_filter octobloom_filter;

octobloom_status octobloom_filter_create(const octobloom_create_options* options,
                                         octobloom_filter** filter);
/* Takes null. */
void octobloom_filter_destroy(octobloom_filter* filter);
octobloom_status octobloom_filter_load(const char* path, const octobloom_load_options* options,
                                       octobloom_filter** filter);
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
octobloom_status octobloom_filter_from_bytes(const void* bytes, uint64_t size,
                                             const octobloom_load_options* options,
                                             octobloom_filter** filter);

/*
 * From now on `engine` works on it. An engine of a device keeps the filter there from call to call;
 * what needs its bits here (saving, facts, views, merging, single hashes) brings them back.
 */
octobloom_status octobloom_filter_use(octobloom_filter* filter, const char* engine);
const char* octobloom_filter_engine(const octobloom_filter* filter); /* not of null */

/*
 * Calls for many keys. Answers: bit i mod 8 of byte i / 8 of a bitmap of (count + 7) / 8 bytes, the
 * tail zero; null when only their number is wanted, which may be null too. `options` may be null.
 *
 * A growing filter that cannot grow, a cuckoo filter that is full, and a window that gets no memory
 * keep the keys before the one that failed.
 */
octobloom_status octobloom_filter_insert(octobloom_filter* filter, const octobloom_keys* keys,
                                         const octobloom_call_options* options);
/* Tells for each key, in order, whether it was absent, and inserts it then. */
octobloom_status octobloom_filter_insert_new(octobloom_filter* filter, const octobloom_keys* keys,
                                             const octobloom_call_options* options, uint8_t* bitmap,
                                             uint64_t* fresh);
/* Never a false "no". */
octobloom_status octobloom_filter_may_contain(const octobloom_filter* filter,
                                              const octobloom_keys* keys,
                                              const octobloom_call_options* options,
                                              uint8_t* bitmap, uint64_t* found);
/*
 * Takes back one insertion of each key. Keys that are certainly absent are left out and reported:
 * their bits are 0. Remove only what was inserted.
 */
octobloom_status octobloom_filter_remove(octobloom_filter* filter, const octobloom_keys* keys,
                                         const octobloom_call_options* options, uint8_t* bitmap,
                                         uint64_t* removed);

/* ---- keys in Arrow arrays -------------------------------------------------------------------- */

/*
 * Arrays of the Arrow C Data Interface: booleans, integers, floating point, decimals of 32 to 256
 * bits, dates, times, timestamps, durations, strings and binary in every layout, dictionaries,
 * null, and structs, which are composite keys of their fields. Sliced or not. Intervals, nested
 * types and run ends are OCTOBLOOM_INVALID_ARGUMENT. Schema and array stay the caller's, who
 * releases them.
 *
 * A null row is never inserted, and its answer is null. Offsets, indices and views are checked; how
 * long the bytes of strings are, the interface does not tell.
 */

/* Where the answers go, whatever of it is wanted. */
typedef struct octobloom_answers {
  size_t size;
  uint8_t* bitmap;            /* as above, 0 for null rows; */
  uint8_t* valid;             /* and whether there is an answer */
  struct ArrowArray* array;   /* becomes a boolean array, which the caller releases, */
  struct ArrowSchema* schema; /* and its type; may be null */
  uint64_t count;             /* out: answers that are 1 */
} octobloom_answers;

/* `inserted`, the number of rows that are not null, may be null. */
octobloom_status octobloom_filter_insert_arrow(octobloom_filter* filter,
                                               const struct ArrowSchema* schema,
                                               const struct ArrowArray* array,
                                               const octobloom_call_options* options,
                                               uint64_t* inserted);
/* `answers` may be null here and below. */
octobloom_status octobloom_filter_insert_new_arrow(octobloom_filter* filter,
                                                   const struct ArrowSchema* schema,
                                                   const struct ArrowArray* array,
                                                   const octobloom_call_options* options,
                                                   octobloom_answers* answers);
octobloom_status octobloom_filter_may_contain_arrow(const octobloom_filter* filter,
                                                    const struct ArrowSchema* schema,
                                                    const struct ArrowArray* array,
                                                    const octobloom_call_options* options,
                                                    octobloom_answers* answers);
octobloom_status octobloom_filter_remove_arrow(octobloom_filter* filter,
                                               const struct ArrowSchema* schema,
                                               const struct ArrowArray* array,
                                               const octobloom_call_options* options,
                                               octobloom_answers* answers);
/*
 * The hash of every row, for those who keep it: `hashes` has room for one a row, `valid` for a bit
 * a row (may be null). Give them as OCTOBLOOM_HASHES with the family of the array, which is written
 * to `family` (may be null; 0 for an array of type null).
 */
octobloom_status octobloom_hash_arrow(const struct ArrowSchema* schema,
                                      const struct ArrowArray* array, uint64_t seed,
                                      const octobloom_call_options* options, uint64_t* hashes,
                                      uint8_t* valid, int32_t* family);

/* ---- single keys ----------------------------------------------------------------------------- */

/*
 * By the hash, which was made of a key of `family` (an octobloom_family; OCTOBLOOM_FAMILY_HASHES,
 * or 0, when that is not known). 1 or 0, and the negative octobloom_status, with the sentence in
 * octobloom_message(), when it cannot be done; filters must not be null here.
 */
int32_t octobloom_filter_insert_hash(octobloom_filter* filter, uint64_t hash, int32_t family);
int32_t octobloom_filter_insert_new_hash(octobloom_filter* filter, uint64_t hash, int32_t family);
int32_t octobloom_filter_may_contain_hash(const octobloom_filter* filter, uint64_t hash,
                                          int32_t family);
int32_t octobloom_filter_remove_hash(octobloom_filter* filter, uint64_t hash, int32_t family);

/* ---- whole filters --------------------------------------------------------------------------- */

/* Adds the keys of `other`, of the same kind, size, k, seed and hashing. */
octobloom_status octobloom_filter_merge(octobloom_filter* filter, const octobloom_filter* other);
/* Forgets every key; kind, size, plan and seed stay. */
octobloom_status octobloom_filter_clear(octobloom_filter* filter);
/* `any` not 0: from now on, questions of every family are answered; 0 takes it back. */
octobloom_status octobloom_filter_accept_any_family(octobloom_filter* filter, int32_t any);
/* Of a counting filter: a plain one of the same keys. Of a plain one: a copy. */
octobloom_status octobloom_filter_snapshot(const octobloom_filter* filter,
                                           octobloom_filter** snapshot);

/* What a filter is. Reads none of its bits. */
typedef struct octobloom_facts {
  size_t size;
  int32_t kind;           /* an octobloom_kind */
  int32_t callers_hashes; /* not 0: it takes OCTOBLOOM_HASHES only */
  uint64_t seed;
  uint32_t blocks;        /* growing: of the newest level; windowed: of a layer; cuckoo: lines */
  uint32_t k;             /* cuckoo: bits of a fingerprint */
  uint32_t levels;        /* growing: its levels; windowed: its layers; otherwise 1 */
  uint32_t families;      /* of the keys inserted so far; 0: none, or not known */
  uint64_t bytes;         /* everything that is kept: all levels, counters included */
  uint64_t file_bytes;    /* of its file, now */
  uint64_t planned_keys;  /* growing: those of the first level; 0: unplanned */
  double target_fpr;      /* 0: unplanned */
  uint64_t inserted_keys; /* calls, less removals */
} octobloom_facts;

octobloom_status octobloom_filter_get_facts(const octobloom_filter* filter, octobloom_facts* facts);

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
  size_t size;
  double fill;           /* share of the bits that are set, or of the slots that are taken */
  double estimated_keys; /* distinct keys; negative when every bit is set. Growing and windowed:
                            those that were told new; cuckoo: the slots that are taken */
  double current_fpr;    /* chance that a new, random key is taken for a known one */
  double fpr_error;      /* how far chance alone moves current_fpr */
  int32_t verdict;       /* an octobloom_verdict */
  int32_t reserved;
} octobloom_statistics;

octobloom_status octobloom_filter_get_statistics(const octobloom_filter* filter,
                                                 octobloom_statistics* statistics);

/* ---- views: filters in the caller's memory --------------------------------------------------- */

/*
 * `words` is aligned to 64 bytes and holds 8 * blocks words, all zero for an empty filter. The
 * same bits as a plain filter; nothing is counted. Functions that only read do not write there.
 */
typedef struct octobloom_view {
  uint64_t* words;
  uint32_t blocks;
  uint32_t k;
  uint64_t seed;
  int32_t callers_hashes;
} octobloom_view;

octobloom_status octobloom_view_insert(const octobloom_view* view, const octobloom_keys* keys,
                                       const octobloom_call_options* options);
octobloom_status octobloom_view_insert_new(const octobloom_view* view, const octobloom_keys* keys,
                                           const octobloom_call_options* options, uint8_t* bitmap,
                                           uint64_t* fresh);
octobloom_status octobloom_view_may_contain(const octobloom_view* view, const octobloom_keys* keys,
                                            const octobloom_call_options* options, uint8_t* bitmap,
                                            uint64_t* found);
/* Judged as unplanned: by its fill. */
octobloom_status octobloom_view_get_statistics(const octobloom_view* view,
                                               octobloom_statistics* statistics);

/* A plain filter's own memory as a view, valid until the filter is destroyed. From then on an
   engine of a device keeps nothing from call to call, since it would not see what is written here.
 */
octobloom_status octobloom_filter_get_view(octobloom_filter* filter, octobloom_view* view);
/*
 * What was written there: adds `keys` to the number of keys inserted; their families become unknown
 * when `family` is 0.
 */
octobloom_status octobloom_filter_count_inserted(octobloom_filter* filter, uint64_t keys,
                                                 int32_t family);

// NOLINTEND(modernize-use-using)

#ifdef __cplusplus
}
#endif

#endif
