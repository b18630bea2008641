#include <octobloom/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      fprintf(stderr, "%s:%d: not true: %s (message: %s)\n", __FILE__, __LINE__, #condition, \
              octobloom_message());                                                          \
      ++failures;                                                                            \
    }                                                                                        \
  } while (0)

#define OK(call) CHECK((call) == OCTOBLOOM_OK)

/* The call fails with that status, and its sentence has that part. */
#define FAILS(status, part, call)                       \
  do {                                                  \
    CHECK((call) == (status));                          \
    CHECK(strstr(octobloom_message(), (part)) != NULL); \
  } while (0)

enum { COUNT = 1000 };
static uint64_t numbers[2 * COUNT];

static octobloom_keys integers(size_t first, size_t count) {
  octobloom_keys keys = {OCTOBLOOM_INTEGERS, 0, NULL, NULL, NULL, 0, 0};
  keys.count = count;
  keys.values = numbers + first;
  return keys;
}

static octobloom_keys lines(void) {
  static const char text[] = "red\ngreen\nred\n\n";
  static const uint64_t offsets[] = {0, 4, 10, 14, 15};
  octobloom_keys keys = {OCTOBLOOM_STRINGS, 4, NULL, NULL, NULL, 1, 0};
  keys.bytes = text;
  keys.offsets = offsets;
  return keys;
}

static octobloom_plan plan_of(uint64_t keys, double fpr) {
  octobloom_plan plan;
  memset(&plan, 0, sizeof plan);
  OK(octobloom_plan_for(keys, fpr, &plan));
  return plan;
}

/* Options and results, ready to be filled. */
#define SIZED(type, name)           \
  type name;                        \
  memset(&(name), 0, sizeof(name)); \
  (name).size = sizeof(name)

static octobloom_call_options everywhere; /* on all threads */
static octobloom_load_options unverified;

static octobloom_create_options options_of(int32_t kind, const octobloom_plan* plan) {
  SIZED(octobloom_create_options, options);
  options.kind = kind;
  options.expected_keys = plan->expected_keys;
  options.target_fpr = plan->target_fpr;
  options.blocks = plan->blocks;
  options.k = plan->k;
  return options;
}

static octobloom_status create(int32_t kind, const octobloom_plan* plan,
                               octobloom_filter** filter) {
  const octobloom_create_options options = options_of(kind, plan);
  return octobloom_filter_create(&options, filter);
}

static octobloom_status create_growing(uint64_t keys, double fpr, uint32_t growth,
                                       octobloom_filter** filter) {
  SIZED(octobloom_create_options, options);
  options.kind = OCTOBLOOM_GROWING;
  options.expected_keys = keys;
  options.target_fpr = fpr;
  options.growth = growth;
  return octobloom_filter_create(&options, filter);
}

static octobloom_load_options only(int32_t kind) {
  SIZED(octobloom_load_options, options);
  options.kinds = (uint32_t)1 << kind;
  return options;
}

static octobloom_filter* new_filter(uint64_t keys, double fpr) {
  const octobloom_plan plan = plan_of(keys, fpr);
  octobloom_filter* filter = NULL;
  OK(create(OCTOBLOOM_PLAIN, &plan, &filter));
  return filter;
}

static octobloom_facts facts_of(const octobloom_filter* filter) {
  SIZED(octobloom_facts, facts);
  OK(octobloom_filter_get_facts(filter, &facts));
  return facts;
}

static octobloom_statistics statistics_of(const octobloom_filter* filter) {
  SIZED(octobloom_statistics, statistics);
  OK(octobloom_filter_get_statistics(filter, &statistics));
  return statistics;
}

static octobloom_statistics view_statistics_of(const octobloom_view* view) {
  SIZED(octobloom_statistics, statistics);
  OK(octobloom_view_get_statistics(view, &statistics));
  return statistics;
}

static void test_plans(const char* path) {
  octobloom_plan plan = plan_of(1000000, 0.01);
  (void)path;
  CHECK(plan.blocks == 19402 || plan.blocks > 19000);
  CHECK(plan.k >= 6 && plan.k <= 8);
  CHECK(plan.expected_keys == 1000000 && plan.target_fpr == 0.01);
  CHECK(plan.expected_fpr > 0.0095 && plan.expected_fpr <= 0.01);
  OK(octobloom_plan_with_memory(64 * 1000, 50000, &plan));
  CHECK(plan.blocks == 1000);
  OK(octobloom_plan_with_blocks(77, 9, &plan));
  CHECK(plan.blocks == 77 && plan.k == 9 && plan.expected_keys == 0);
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "at least 1 key", octobloom_plan_for(0, 0.01, &plan));
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "target rate", octobloom_plan_for(10, 2, &plan));
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "k is from 1 to 24", octobloom_plan_with_blocks(1, 0, &plan));
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "plan is null", octobloom_plan_for(10, 0.1, NULL));
  CHECK(plan.blocks == 77);
  CHECK(octobloom_hash_bytes("", 0, 0) == UINT64_C(0xEF46DB3751D8E999));
  CHECK(octobloom_hash_bytes(NULL, 0, 0) == UINT64_C(0xEF46DB3751D8E999));
  CHECK(octobloom_hash_bytes("abc", 3, 0) == UINT64_C(0x44BC2CF5AD770999));
  CHECK(octobloom_hash_double(0.0, 7) == octobloom_hash_double(-0.0, 7));
  CHECK(octobloom_hash_integer(5, 1) != octobloom_hash_integer(5, 2));
  CHECK(strchr(octobloom_version(), '.') != NULL);
}

static void test_filters(const char* path) {
  octobloom_filter* filter = new_filter(COUNT, 0.001);
  octobloom_filter* other = new_filter(COUNT, 0.001);
  octobloom_keys keys = integers(0, COUNT);
  octobloom_facts facts;
  octobloom_statistics statistics;
  uint8_t bitmap[(2 * COUNT + 7) / 8];
  uint64_t count = 0;
  (void)path;

  OK(octobloom_filter_insert(filter, &keys, NULL));
  keys = integers(0, 2 * COUNT);
  OK(octobloom_filter_may_contain(filter, &keys, &everywhere, bitmap, &count));
  CHECK(count >= COUNT && count < COUNT + 20);
  CHECK(bitmap[0] == 0xFF && bitmap[COUNT / 8 - 1] == 0xFF);
  OK(octobloom_filter_may_contain(filter, &keys, NULL, NULL, NULL));

  keys = lines();
  OK(octobloom_filter_insert_new(other, &keys, NULL, bitmap, &count));
  CHECK(count == 3 && bitmap[0] == 0x0B); /* red, green and the empty line; the second red is not */
  CHECK(octobloom_filter_may_contain_hash(other, octobloom_hash_bytes("green", 5, 0),
                                          OCTOBLOOM_FAMILY_STRINGS));
  CHECK(!octobloom_filter_may_contain_hash(other, octobloom_hash_bytes("blue", 4, 0),
                                           OCTOBLOOM_FAMILY_STRINGS));
  CHECK(octobloom_filter_insert_new_hash(other, octobloom_hash_bytes("blue", 4, 0),
                                         OCTOBLOOM_FAMILY_STRINGS));
  CHECK(!octobloom_filter_insert_new_hash(other, octobloom_hash_bytes("blue", 4, 0),
                                          OCTOBLOOM_FAMILY_STRINGS));
  octobloom_filter_insert_hash(other, octobloom_hash_integer(UINT64_MAX, 0),
                               OCTOBLOOM_FAMILY_INTEGERS);

  OK(octobloom_filter_merge(filter, other));
  CHECK(octobloom_filter_may_contain_hash(filter, octobloom_hash_bytes("blue", 4, 0),
                                          OCTOBLOOM_FAMILY_STRINGS));
  facts = facts_of(filter);
  CHECK(facts.inserted_keys == COUNT + 5 && facts.planned_keys == COUNT && facts.levels == 1);
  CHECK(facts.bytes == 64 * (uint64_t)facts.blocks && facts.seed == 0 && !facts.callers_hashes);
  statistics = statistics_of(filter);
  CHECK(statistics.fill > 0.3 && statistics.fill < 0.7);
  CHECK(statistics.estimated_keys > 950 && statistics.estimated_keys < 1060);
  CHECK(statistics.current_fpr > 0.0003 && statistics.current_fpr < 0.002);
  OK(octobloom_filter_clear(filter));
  statistics = statistics_of(filter);
  CHECK(statistics.fill == 0 && statistics.estimated_keys == 0);
  octobloom_filter_destroy(other);
  octobloom_filter_destroy(filter);
  octobloom_filter_destroy(NULL);
}

static void test_files(const char* path) {
  octobloom_filter* filter = new_filter(COUNT, 0.001);
  octobloom_filter* loaded = NULL;
  octobloom_filter* growing = NULL;
  const octobloom_keys keys = integers(0, COUNT);
  const octobloom_load_options growing_only = only(OCTOBLOOM_GROWING);
  octobloom_load_options two_kinds = only(OCTOBLOOM_CUCKOO);
  uint64_t count = 0;
  FILE* file;
  two_kinds.kinds |= 1 << OCTOBLOOM_GROWING;

  OK(octobloom_filter_insert(filter, &keys, NULL));
  OK(octobloom_filter_save(filter, path));
  OK(octobloom_filter_load(path, NULL, &loaded));
  OK(octobloom_filter_may_contain(loaded, &keys, NULL, NULL, &count));
  CHECK(count == COUNT);
  octobloom_filter_destroy(loaded);
  loaded = NULL;
  FAILS(OCTOBLOOM_BAD_FILE, "holds a plain filter, not a growing one",
        octobloom_filter_load(path, &growing_only, &growing));
  FAILS(OCTOBLOOM_BAD_FILE, "holds a plain filter, not a growing or cuckoo one",
        octobloom_filter_load(path, &two_kinds, &growing));
  CHECK(growing == NULL);

  file = fopen(path, "r+b"); /* one bit of the body */
  CHECK(file != NULL && fseek(file, 200, SEEK_SET) == 0 && fputc(0x5A, file) != EOF);
  CHECK(file != NULL && fclose(file) == 0);
  FAILS(OCTOBLOOM_BAD_FILE, "checksum", octobloom_filter_load(path, NULL, &loaded));
  CHECK(loaded == NULL);
  OK(octobloom_filter_load(path, &unverified, &loaded));
  octobloom_filter_destroy(loaded);
  CHECK(remove(path) == 0);
  FAILS(OCTOBLOOM_IO, path, octobloom_filter_load(path, NULL, &loaded));
  FAILS(OCTOBLOOM_IO, "no/such", octobloom_filter_save(filter, "no/such/folder/x.octobloom"));
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "path is null", octobloom_filter_load(NULL, NULL, &loaded));
  octobloom_filter_destroy(filter);
}

static void test_bytes(const char* path) {
  octobloom_filter* growing = NULL;
  octobloom_filter* back = NULL;
  octobloom_filter* filter = NULL;
  const octobloom_keys keys = integers(0, COUNT);
  const octobloom_load_options plain_only = only(OCTOBLOOM_PLAIN);
  unsigned char* bytes;
  unsigned char* in_file;
  uint64_t size = 0;
  uint64_t count = 0;
  FILE* file;

  OK(create_growing(10, 0.01, 2, &growing));
  OK(octobloom_filter_insert(growing, &keys, NULL));
  OK(octobloom_filter_to_bytes(growing, NULL, 0, &size));
  CHECK(size > 1000);
  bytes = (unsigned char*)malloc((size_t)size + 1);
  in_file = (unsigned char*)malloc((size_t)size + 1);
  memset(bytes, 0xEE, (size_t)size + 1);
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "bytes, the memory for them",
        octobloom_filter_to_bytes(growing, bytes, size - 1, &size));
  CHECK(bytes[0] == 0xEE);
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "size is null",
        octobloom_filter_to_bytes(growing, bytes, size, NULL));
  OK(octobloom_filter_to_bytes(growing, bytes, size, &size));
  CHECK(bytes[size] == 0xEE);
  OK(octobloom_filter_save(growing, path));
  file = fopen(path, "rb");
  CHECK(file != NULL && fread(in_file, 1, (size_t)size + 1, file) == size);
  CHECK(file != NULL && fclose(file) == 0);
  CHECK(memcmp(bytes, in_file, (size_t)size) == 0);
  CHECK(remove(path) == 0);

  OK(octobloom_filter_from_bytes(bytes, size, NULL, &back));
  OK(octobloom_filter_may_contain(back, &keys, NULL, NULL, &count));
  CHECK(count == COUNT);
  octobloom_filter_destroy(back);
  back = NULL;
  FAILS(OCTOBLOOM_BAD_FILE, "cut off", octobloom_filter_from_bytes(bytes, size - 1, NULL, &back));
  FAILS(OCTOBLOOM_BAD_FILE, "appended", octobloom_filter_from_bytes(bytes, size + 1, NULL, &back));
  FAILS(OCTOBLOOM_BAD_FILE, "holds a growing filter, not a plain one",
        octobloom_filter_from_bytes(bytes, size, &plain_only, &filter));
  bytes[size - 1] ^= 1;
  FAILS(OCTOBLOOM_BAD_FILE, "checksum", octobloom_filter_from_bytes(bytes, size, NULL, &back));
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "bytes is null",
        octobloom_filter_from_bytes(NULL, size, NULL, &back));
  CHECK(back == NULL && filter == NULL);
  free(bytes);
  free(in_file);
  octobloom_filter_destroy(growing);
}

static void test_growing(const char* path) {
  octobloom_filter* growing = NULL;
  octobloom_filter* loaded = NULL;
  const octobloom_keys keys = integers(0, COUNT);
  const octobloom_keys all = integers(0, 2 * COUNT);
  octobloom_facts facts;
  octobloom_statistics statistics;
  uint64_t count = 0;

  OK(create_growing(10, 0.001, 0, &growing));
  OK(octobloom_filter_insert(growing, &keys, NULL));
  facts = facts_of(growing);
  CHECK(facts.levels == 7 && facts.planned_keys == 10 && facts.inserted_keys == COUNT);
  OK(octobloom_filter_insert_new(growing, &all, NULL, NULL, &count));
  CHECK(count <= COUNT && count > COUNT - 10);
  statistics = statistics_of(growing);
  CHECK(statistics.current_fpr < 0.001 && statistics.estimated_keys > 2 * COUNT - 10);
  OK(octobloom_filter_save(growing, path));
  OK(octobloom_filter_load(path, NULL, &loaded));
  CHECK(remove(path) == 0);
  OK(octobloom_filter_may_contain(loaded, &all, NULL, NULL, &count));
  CHECK(count == 2 * COUNT);
  OK(octobloom_filter_clear(loaded));
  facts = facts_of(loaded);
  CHECK(facts.levels == 1 && facts.inserted_keys == 0);
  octobloom_filter_destroy(loaded);
  octobloom_filter_destroy(growing);
  growing = NULL;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "2 to 16", create_growing(10, 0.1, 99, &growing));
  OK(create_growing(1, 2e-8, 2, &growing));
  FAILS(OCTOBLOOM_FULL, "start with more keys", octobloom_filter_insert(growing, &keys, NULL));
  octobloom_filter_destroy(growing);
  octobloom_filter_destroy(NULL);
}

static void test_counting(const char* path) {
  const octobloom_plan plan = plan_of(COUNT, 0.001);
  octobloom_filter* counting = NULL;
  octobloom_filter* loaded = NULL;
  octobloom_filter* snapshot = NULL;
  const octobloom_keys keys = integers(0, COUNT);
  const octobloom_keys half = integers(COUNT / 2, COUNT / 2);
  octobloom_facts facts;
  octobloom_statistics statistics;
  uint8_t bitmap[(COUNT + 7) / 8];
  uint64_t count = 0;

  OK(create(OCTOBLOOM_COUNTING, &plan, &counting));
  OK(octobloom_filter_insert_new(counting, &keys, NULL, NULL, &count));
  CHECK(count <= COUNT && count > COUNT - 10);
  OK(octobloom_filter_insert(counting, &keys, NULL));
  OK(octobloom_filter_insert(counting, &keys, NULL));
  facts = facts_of(counting);
  CHECK(facts.bytes == 320 * (uint64_t)facts.blocks && facts.inserted_keys == 2 * COUNT + count);
  OK(octobloom_filter_snapshot(counting, &snapshot));
  OK(octobloom_filter_remove(counting, &half, NULL, bitmap, &count));
  CHECK(count == COUNT / 2 && bitmap[0] == 0xFF);
  OK(octobloom_filter_save(counting, path));
  OK(octobloom_filter_load(path, NULL, &loaded));
  CHECK(remove(path) == 0);
  OK(octobloom_filter_may_contain(loaded, &keys, NULL, NULL, &count));
  CHECK(count == COUNT);
  OK(octobloom_filter_merge(loaded, counting));
  statistics = statistics_of(loaded);
  CHECK(statistics.fill > 0.2);
  OK(octobloom_filter_clear(loaded));
  OK(octobloom_filter_may_contain(loaded, &keys, NULL, NULL, &count));
  CHECK(count == 0);
  OK(octobloom_filter_may_contain(snapshot, &keys, NULL, NULL, &count));
  CHECK(count == COUNT);
  octobloom_filter_destroy(snapshot);
  octobloom_filter_destroy(loaded);
  octobloom_filter_destroy(counting);
  octobloom_filter_destroy(NULL);
}

static void test_views(const char* path) {
  enum { BLOCKS = 40 };
  static unsigned char memory[64 * (BLOCKS + 1)];
  const octobloom_keys keys = integers(0, COUNT);
  octobloom_create_options options;
  octobloom_view view = {NULL, BLOCKS, 8, 9, 0};
  octobloom_view inside;
  octobloom_plan plan;
  octobloom_filter* filter = NULL;
  octobloom_statistics statistics;
  uint64_t fresh = 0;
  uint64_t count = 0;
  size_t shift = (64 - (size_t)((uintptr_t)memory % 64)) % 64;
  (void)path;
  view.words = (uint64_t*)(void*)(memory + shift);

  OK(octobloom_plan_with_blocks(BLOCKS, 8, &plan));
  options = options_of(OCTOBLOOM_PLAIN, &plan);
  options.seed = 9;
  OK(octobloom_filter_create(&options, &filter));
  OK(octobloom_filter_insert_new(filter, &keys, NULL, NULL, &count));
  OK(octobloom_view_insert_new(&view, &keys, NULL, NULL, &fresh));
  CHECK(fresh == count);
  OK(octobloom_filter_get_view(filter, &inside));
  CHECK(inside.blocks == BLOCKS && inside.k == 8 && inside.seed == 9);
  CHECK(memcmp(inside.words, view.words, 64 * BLOCKS) == 0);
  OK(octobloom_view_may_contain(&view, &keys, NULL, NULL, &count));
  CHECK(count == COUNT);
  statistics = view_statistics_of(&view);
  CHECK(statistics.fill > 0.2 && statistics.fill < 0.5);
  OK(octobloom_view_insert(&view, &keys, NULL));
  CHECK(memcmp(inside.words, view.words, 64 * BLOCKS) == 0);
  octobloom_filter_destroy(filter);

  view.words = (uint64_t*)(void*)(memory + shift + 8);
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "aligned to 64 bytes",
        octobloom_view_insert(&view, &keys, NULL));
  view.words = NULL;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "words is null", octobloom_view_insert(&view, &keys, NULL));
  view.words = (uint64_t*)(void*)(memory + shift);
  view.k = 25;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "k is from 1 to 24", octobloom_view_insert(&view, &keys, NULL));
  view.k = 8;
  view.callers_hashes = 1;
  FAILS(OCTOBLOOM_WRONG_KEY, "hashes", octobloom_view_insert(&view, &keys, NULL));
}

/* Every place and kind of a length that is none, in short batches and long ones. */
static void test_offsets(octobloom_filter* filter) {
  enum { LONG = 9000 };
  static uint64_t offsets[LONG + 1];
  static char bytes[3 * LONG];
  static uint8_t bitmap[(LONG + 7) / 8];
  static const uint64_t zeros[] = {0, 0, 0};
  static const size_t counts[] = {1, 2, 3, 7, 8, 9, 4095, 4096, 4097, LONG};
  static const uint64_t huge[] = {UINT64_MAX, UINT64_MAX - 2, UINT64_C(1) << 63, UINT64_C(1) << 62,
                                  UINT64_C(1) << 48};
  octobloom_keys keys = {OCTOBLOOM_STRINGS, 2, NULL, bytes, zeros, 1, 0};
  uint64_t count = 99;
  size_t c, i, h;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "string 0 no length: from 0 to 0, less a separator of 1",
        octobloom_filter_insert(filter, &keys, NULL));
  keys.separator = 0; /* two empty strings */
  OK(octobloom_filter_insert(filter, &keys, NULL));
  keys.bytes = NULL;
  OK(octobloom_filter_insert(filter, &keys, NULL));
  keys.separator = UINT64_MAX;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "string 0", octobloom_filter_insert(filter, &keys, NULL));
  keys.bytes = bytes;
  keys.offsets = offsets;
  for (i = 0; i <= LONG; ++i) offsets[i] = 3 * i;
  for (keys.separator = 0; keys.separator <= 3; ++keys.separator) {
    for (c = 0; c < sizeof counts / sizeof *counts; ++c) {
      keys.count = counts[c];
      OK(octobloom_filter_may_contain(filter, &keys, NULL, bitmap, NULL));
      for (i = 0; i < keys.count; i += i < 20 || i + 20 > keys.count ? 1 : 37) {
        const uint64_t before = offsets[i];
        memset(bitmap, 0x5A, sizeof bitmap);
        offsets[i] = 3 * (i + 1) + 1 - keys.separator; /* too near to the next one, by one */
        FAILS(OCTOBLOOM_INVALID_ARGUMENT, "no length",
              octobloom_filter_may_contain(filter, &keys, NULL, bitmap, &count));
        for (h = 0; h < sizeof huge / sizeof *huge; ++h) {
          offsets[i] = huge[h];
          FAILS(OCTOBLOOM_INVALID_ARGUMENT, "no length",
                octobloom_filter_insert_new(filter, &keys, NULL, bitmap, &count));
        }
        CHECK(bitmap[0] == 0x5A && count == 99);
        offsets[i] = before;
      }
    }
  }
  keys.separator = 4;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "string 0", octobloom_filter_insert(filter, &keys, NULL));
  keys.separator = 0;
  keys.bytes = NULL;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "bytes is null", octobloom_filter_insert(filter, &keys, NULL));
}

static void test_errors(const char* path) {
  octobloom_plan plan = plan_of(COUNT, 0.01);
  octobloom_filter* filter = new_filter(COUNT, 0.01);
  octobloom_filter* other = new_filter(COUNT, 0.1);
  octobloom_filter* hashes = NULL;
  octobloom_create_options options;
  octobloom_keys keys = integers(0, 4);
  octobloom_facts facts;
  int status;
  (void)path;
  CHECK(octobloom_message()[0] == '\0');

  FAILS(OCTOBLOOM_MISMATCH, "blocks", octobloom_filter_merge(filter, other));
  facts = facts_of(filter);
  CHECK(facts.inserted_keys == 0);
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "filter is null", octobloom_filter_insert(NULL, &keys, NULL));
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "keys is null", octobloom_filter_insert(filter, NULL, NULL));
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "facts is null", octobloom_filter_get_facts(filter, NULL));
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "result is null", create(OCTOBLOOM_PLAIN, &plan, NULL));
  keys.kind = 3;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "kind is 0, 1 or 2",
        octobloom_filter_insert(filter, &keys, NULL));
  keys.kind = OCTOBLOOM_STRINGS;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "offsets is null",
        octobloom_filter_insert(filter, &keys, NULL));
  test_offsets(filter);
  keys.kind = OCTOBLOOM_INTEGERS;
  keys.values = NULL;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "values is null", octobloom_filter_insert(filter, &keys, NULL));
  keys.count = 0;
  OK(octobloom_filter_insert(filter, &keys, NULL));

  plan.target_fpr = -1;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "target rate", create(OCTOBLOOM_PLAIN, &plan, &hashes));
  plan.target_fpr = 0.01;
  options = options_of(OCTOBLOOM_PLAIN, &plan);
  options.seed = 1;
  options.callers_hashes = 1;
  OK(octobloom_filter_create(&options, &hashes));
  keys = integers(0, 4);
  FAILS(OCTOBLOOM_WRONG_KEY, "hashes", octobloom_filter_insert(hashes, &keys, NULL));
  keys.kind = OCTOBLOOM_HASHES;
  OK(octobloom_filter_insert(hashes, &keys, NULL));
  FAILS(OCTOBLOOM_MISMATCH, "hash id", octobloom_filter_merge(filter, hashes));

  plan.blocks = UINT32_MAX; /* 256 GiB: refused before anything is taken */
  status = (int)create(OCTOBLOOM_PLAIN, &plan, &other);
  CHECK(status == OCTOBLOOM_OUT_OF_MEMORY || status == OCTOBLOOM_OK);

  CHECK(strcmp(octobloom_status_name(OCTOBLOOM_OK), "ok") == 0);
  CHECK(strcmp(octobloom_status_name(OCTOBLOOM_BAD_FILE), "bad_file") == 0);
  CHECK(strcmp(octobloom_status_name(OCTOBLOOM_DEVICE), "device") == 0);
  CHECK(strcmp(octobloom_status_name(OCTOBLOOM_INTERNAL), "internal") == 0);
  octobloom_filter_destroy(hashes);
  octobloom_filter_destroy(other);
  octobloom_filter_destroy(filter);
}

static uint64_t read_number(const unsigned char* bytes) {
  uint64_t value = 0;
  int i;
  for (i = 7; i >= 0; --i) value = value << 8 | bytes[i];
  return value;
}

static void write_number(unsigned char* bytes, uint64_t value) {
  int i;
  for (i = 0; i < 8; ++i) bytes[i] = (unsigned char)(value >> (8 * i));
}

/* Sets every bit of the body from `first` on, with checksums that fit; the counts stay. */
static void set_all_bits(const char* path, size_t first, size_t size) {
  static unsigned char file[1 << 20];
  FILE* stream = fopen(path, "rb");
  size_t bytes = 0;
  CHECK(stream != NULL);
  if (stream == NULL) return;
  bytes = fread(file, 1, sizeof file, stream);
  CHECK(fclose(stream) == 0 && bytes > 128 && bytes < sizeof file);
  if (size == 0) size = bytes - 128 - first;
  CHECK(bytes >= 128 + first + size && read_number(file + 56) == bytes - 128);
  memset(file + 128 + first, 0xFF, size);
  write_number(file + 64, octobloom_hash_bytes(file + 128, bytes - 128, 0));
  write_number(file + 120, octobloom_hash_bytes(file, 120, 0));
  stream = fopen(path, "wb");
  CHECK(stream != NULL && fwrite(file, 1, bytes, stream) == bytes && fclose(stream) == 0);
}

static octobloom_verdict verdict_of(const octobloom_filter* filter) {
  return (octobloom_verdict)statistics_of(filter).verdict;
}

static void test_verdicts(const char* path) {
  octobloom_plan plan = plan_of(COUNT, 0.01);
  octobloom_filter* filter = new_filter(COUNT, 0.01);
  octobloom_filter* liar = NULL;
  octobloom_filter* counting = NULL;
  octobloom_filter* growing = NULL;
  octobloom_statistics statistics;
  octobloom_facts facts;
  octobloom_view view;
  octobloom_keys keys = integers(0, COUNT);
  CHECK(strcmp(octobloom_verdict_name(OCTOBLOOM_VERDICT_FINE), "fine") == 0);
  CHECK(strcmp(octobloom_verdict_name(OCTOBLOOM_VERDICT_FULL), "full") == 0);
  CHECK(strcmp(octobloom_verdict_name(OCTOBLOOM_VERDICT_OVER_FULL), "over-full") == 0);

  OK(octobloom_filter_insert(filter, &keys, NULL));
  OK(octobloom_filter_insert(filter, &keys, NULL)); /* repeats count for nothing */
  CHECK(verdict_of(filter) == OCTOBLOOM_VERDICT_FINE);
  keys = integers(COUNT, COUNT / 5);
  OK(octobloom_filter_insert(filter, &keys, NULL));
  CHECK(verdict_of(filter) == OCTOBLOOM_VERDICT_FULL);
  keys = integers(COUNT, COUNT);
  OK(octobloom_filter_insert(filter, &keys, NULL));
  CHECK(verdict_of(filter) == OCTOBLOOM_VERDICT_OVER_FULL);
  OK(octobloom_filter_get_view(filter, &view));
  statistics = view_statistics_of(&view);
  CHECK(statistics.verdict == OCTOBLOOM_VERDICT_FULL); /* by fill: 0.7 of the bits */

  OK(octobloom_filter_clear(filter));
  CHECK(verdict_of(filter) == OCTOBLOOM_VERDICT_FINE);
  OK(octobloom_filter_save(filter, path));
  set_all_bits(path, 0, 0);
  OK(octobloom_filter_load(path, NULL, &liar));
  facts = facts_of(liar);
  CHECK(facts.inserted_keys == 0 && verdict_of(liar) == OCTOBLOOM_VERDICT_OVER_FULL);

  keys = integers(0, COUNT);
  OK(create(OCTOBLOOM_COUNTING, &plan, &counting));
  OK(octobloom_filter_insert(counting, &keys, NULL));
  statistics = statistics_of(counting);
  CHECK(statistics.verdict == OCTOBLOOM_VERDICT_FINE);
  keys = integers(COUNT, COUNT / 5);
  OK(octobloom_filter_insert(counting, &keys, NULL));
  statistics = statistics_of(counting);
  CHECK(statistics.verdict == OCTOBLOOM_VERDICT_FULL);
  keys = integers(COUNT, COUNT);
  OK(octobloom_filter_insert(counting, &keys, NULL));
  statistics = statistics_of(counting);
  CHECK(statistics.verdict == OCTOBLOOM_VERDICT_OVER_FULL);

  OK(create_growing(COUNT, 0.01, 0, &growing));
  OK(octobloom_filter_insert(growing, &keys, NULL));
  statistics = statistics_of(growing);
  CHECK(statistics.verdict == OCTOBLOOM_VERDICT_FINE);
  OK(octobloom_filter_save(growing, path));
  octobloom_filter_destroy(growing);
  set_all_bits(path, 128, 0); /* behind its table of one level */
  OK(octobloom_filter_load(path, NULL, &growing));
  statistics = statistics_of(growing);
  CHECK(statistics.verdict == OCTOBLOOM_VERDICT_OVER_FULL);

  CHECK(remove(path) == 0);
  octobloom_filter_destroy(growing);
  octobloom_filter_destroy(counting);
  octobloom_filter_destroy(liar);
  octobloom_filter_destroy(filter);
}

static octobloom_keys hashes_of(int32_t family) {
  octobloom_keys keys = integers(0, 3);
  keys.kind = OCTOBLOOM_HASHES;
  keys.family = family;
  return keys;
}

static uint32_t families_in(const octobloom_filter* filter) {
  return facts_of(filter).families;
}

static void test_families(const char* path) {
  octobloom_filter* filter = new_filter(COUNT, 0.001);
  octobloom_filter* loaded = NULL;
  octobloom_filter* growing = NULL;
  octobloom_filter* counting = NULL;
  const octobloom_plan plan = plan_of(COUNT, 0.001);
  octobloom_facts facts;
  octobloom_keys keys = lines();
  octobloom_view view;
  uint64_t count = 99;
  uint8_t bitmap = 0x77;

  CHECK(families_in(filter) == 0);
  OK(octobloom_filter_may_contain(filter, &keys, NULL, NULL, NULL));
  keys = integers(0, 8);
  OK(octobloom_filter_insert(filter, &keys, NULL));
  CHECK(families_in(filter) == OCTOBLOOM_FAMILY_INTEGERS);
  keys = lines();
  FAILS(OCTOBLOOM_WRONG_KEY, "integers",
        octobloom_filter_may_contain(filter, &keys, NULL, &bitmap, &count));
  CHECK(bitmap == 0x77 && count == 99);
  CHECK(octobloom_filter_may_contain_hash(filter, 1, 0) == -OCTOBLOOM_WRONG_KEY);
  CHECK(strstr(octobloom_message(), "hashes") != NULL);
  CHECK(octobloom_filter_may_contain_hash(filter, octobloom_hash_integer(7, 0),
                                          OCTOBLOOM_FAMILY_INTEGERS) == 1);
  OK(octobloom_filter_accept_any_family(filter, 1));
  OK(octobloom_filter_may_contain(filter, &keys, NULL, &bitmap, &count));
  CHECK(octobloom_filter_may_contain_hash(filter, 1, 0) >= 0);
  OK(octobloom_filter_accept_any_family(filter, 0));
  FAILS(OCTOBLOOM_WRONG_KEY, "strings",
        octobloom_filter_may_contain(filter, &keys, NULL, NULL, NULL));

  keys = hashes_of(OCTOBLOOM_FAMILY_COMPOSITES);
  OK(octobloom_filter_insert_new(filter, &keys, NULL, NULL, NULL));
  CHECK(families_in(filter) == 9);
  keys = integers(0, 3); /* the bits of doubles */
  keys.family = OCTOBLOOM_FAMILY_FLOATS;
  FAILS(OCTOBLOOM_WRONG_KEY, "floating point",
        octobloom_filter_may_contain(filter, &keys, NULL, NULL, NULL));
  OK(octobloom_filter_insert(filter, &keys, NULL));
  octobloom_filter_insert_hash(filter, 5, 0);
  CHECK(octobloom_filter_insert_new_hash(filter, 5, OCTOBLOOM_FAMILY_STRINGS) == 0);
  CHECK(families_in(filter) == 31);
  keys.family = 3;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "not 3", octobloom_filter_insert(filter, &keys, NULL));
  keys.family = OCTOBLOOM_FAMILY_STRINGS;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "not 4", octobloom_filter_insert(filter, &keys, NULL));

  OK(octobloom_filter_save(filter, path));
  OK(octobloom_filter_load(path, NULL, &loaded));
  CHECK(families_in(loaded) == 31);
  OK(octobloom_filter_clear(loaded));
  CHECK(families_in(loaded) == 0);
  OK(octobloom_filter_get_view(loaded, &view));
  keys = lines();
  OK(octobloom_view_insert(&view, &keys, NULL));
  OK(octobloom_filter_count_inserted(loaded, 4, 0));
  keys = integers(0, 8);
  OK(octobloom_filter_insert(loaded, &keys, NULL));
  CHECK(families_in(loaded) == 0);
  OK(octobloom_filter_merge(filter, loaded));
  CHECK(families_in(filter) == 0);
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "not 7", octobloom_filter_count_inserted(loaded, 4, 7));

  OK(create_growing(10, 0.001, 0, &growing));
  OK(create(OCTOBLOOM_COUNTING, &plan, &counting));
  keys = lines();
  OK(octobloom_filter_insert(growing, &keys, NULL));
  OK(octobloom_filter_insert(counting, &keys, NULL));
  facts = facts_of(growing);
  CHECK(facts.families == OCTOBLOOM_FAMILY_STRINGS);
  facts = facts_of(counting);
  CHECK(facts.families == OCTOBLOOM_FAMILY_STRINGS);
  keys = integers(0, 8);
  FAILS(OCTOBLOOM_WRONG_KEY, "strings",
        octobloom_filter_may_contain(growing, &keys, NULL, NULL, NULL));
  FAILS(OCTOBLOOM_WRONG_KEY, "strings", octobloom_filter_remove(counting, &keys, NULL, NULL, NULL));
  OK(octobloom_filter_accept_any_family(growing, 1));
  OK(octobloom_filter_accept_any_family(counting, 1));
  OK(octobloom_filter_may_contain(growing, &keys, NULL, NULL, NULL));
  OK(octobloom_filter_remove(counting, &keys, NULL, NULL, NULL));
  octobloom_filter_destroy(counting);
  octobloom_filter_destroy(growing);
  octobloom_filter_destroy(loaded);
  octobloom_filter_destroy(filter);
}

static void test_kinds(const char* path) {
  static const char* const names[] = {"plain", "growing", "counting", "cuckoo", "windowed"};
  static const uint32_t abilities[] = {
      OCTOBLOOM_CAN_MERGE, OCTOBLOOM_CAN_GROW, OCTOBLOOM_CAN_REMOVE | OCTOBLOOM_CAN_MERGE,
      OCTOBLOOM_CAN_REMOVE, OCTOBLOOM_CAN_MERGE | OCTOBLOOM_CAN_FORGET};
  const octobloom_keys keys = integers(0, COUNT);
  const octobloom_keys some = integers(0, COUNT / 2);
  int32_t kind;
  for (kind = 0; octobloom_kind_name(kind) != NULL; ++kind) {
    const uint32_t can = octobloom_kind_abilities(kind);
    octobloom_filter* filter = NULL;
    octobloom_filter* twin = NULL;
    octobloom_facts facts;
    uint64_t fresh = 0;
    uint64_t count = 0;
    SIZED(octobloom_create_options, options);
    CHECK(kind < 5 && strcmp(octobloom_kind_name(kind), names[kind]) == 0);
    CHECK(can == abilities[kind]);
    options.kind = kind;
    options.seed = 3;
    options.expected_keys = COUNT;
    options.target_fpr = 0.001;
    if (kind == OCTOBLOOM_WINDOWED) options.window_nanoseconds = UINT64_C(3600000000000);
    OK(octobloom_filter_create(&options, &filter));
    OK(octobloom_filter_create(&options, &twin));
    OK(octobloom_filter_insert(filter, &some, NULL));
    OK(octobloom_filter_insert_new(filter, &keys, NULL, NULL, &fresh));
    CHECK(fresh > COUNT / 2 - 10 && fresh <= COUNT / 2);
    OK(octobloom_filter_may_contain(filter, &keys, NULL, NULL, &count));
    CHECK(count == COUNT);
    facts = facts_of(filter);
    CHECK(facts.kind == kind && facts.seed == 3 && facts.planned_keys == COUNT);
    CHECK(facts.families == OCTOBLOOM_FAMILY_INTEGERS && facts.target_fpr == 0.001);
    CHECK(facts.bytes > 1000 && facts.file_bytes >= facts.bytes + 128);
    CHECK(statistics_of(filter).verdict == OCTOBLOOM_VERDICT_FINE);

    OK(octobloom_filter_insert(twin, &some, NULL));
    if ((can & OCTOBLOOM_CAN_MERGE) != 0) {
      OK(octobloom_filter_merge(twin, filter));
      OK(octobloom_filter_may_contain(twin, &keys, NULL, NULL, &count));
      CHECK(count == COUNT);
    } else {
      FAILS(OCTOBLOOM_INVALID_ARGUMENT, "cannot be merged", octobloom_filter_merge(twin, filter));
    }
    if ((can & OCTOBLOOM_CAN_REMOVE) != 0) {
      OK(octobloom_filter_remove(filter, &some, NULL, NULL, &count));
      CHECK(count == COUNT / 2);
      CHECK(octobloom_filter_remove_hash(filter, octobloom_hash_integer(COUNT - 1, 3), 1) == 1);
      CHECK(octobloom_filter_may_contain_hash(filter, octobloom_hash_integer(COUNT - 1, 3), 1) ==
            0);
      CHECK(octobloom_filter_remove_hash(filter, octobloom_hash_integer(COUNT - 1, 3), 1) == 0);
    } else {
      FAILS(OCTOBLOOM_INVALID_ARGUMENT, "cannot take keys back",
            octobloom_filter_remove(filter, &some, NULL, NULL, &count));
      CHECK(octobloom_filter_remove_hash(filter, 1, 0) == -OCTOBLOOM_INVALID_ARGUMENT);
    }
    if (kind != OCTOBLOOM_PLAIN) {
      octobloom_view view;
      FAILS(OCTOBLOOM_INVALID_ARGUMENT, "plain ones have",
            octobloom_filter_get_view(filter, &view));
    }
    OK(octobloom_filter_save(filter, path));
    octobloom_filter_destroy(twin);
    OK(octobloom_filter_load(path, NULL, &twin));
    CHECK(facts_of(twin).kind == kind && facts_of(twin).file_bytes == facts_of(filter).file_bytes);
    OK(octobloom_filter_clear(twin));
    CHECK(facts_of(twin).inserted_keys == 0);
    CHECK(remove(path) == 0);
    octobloom_filter_destroy(twin);
    octobloom_filter_destroy(filter);
  }
  CHECK(kind == 5 && octobloom_kind_name(-1) == NULL && octobloom_kind_abilities(5) == 0);
}

static void test_sizes(const char* path) {
  struct {
    octobloom_create_options known;
    uint64_t later;
  } newer;
  struct {
    octobloom_facts known;
    uint64_t later;
  } result;
  octobloom_filter* filter = NULL;
  octobloom_plan plan = plan_of(COUNT, 0.01);
  octobloom_keys keys = integers(0, 4);
  octobloom_call_options options = everywhere;
  (void)path;
  memset(&newer, 0, sizeof newer);
  newer.known = options_of(OCTOBLOOM_PLAIN, &plan);
  newer.known.size = sizeof newer;
  OK(octobloom_filter_create(&newer.known, &filter));
  octobloom_filter_destroy(filter);
  filter = NULL;
  newer.later = 1;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "too old", octobloom_filter_create(&newer.known, &filter));
  newer.known.size = sizeof newer.known;
  OK(octobloom_filter_create(&newer.known, &filter));
  newer.known.size = 0;
  CHECK(octobloom_filter_create(&newer.known, &filter) == OCTOBLOOM_INVALID_ARGUMENT);
  CHECK(strstr(octobloom_message(), "sizeof(octobloom_create_options)") != NULL);
  newer.known.size = SIZE_MAX;
  CHECK(octobloom_filter_create(&newer.known, &filter) == OCTOBLOOM_INVALID_ARGUMENT);
  newer.known.size = sizeof newer.known;
  newer.known.reserved = 1;
  CHECK(octobloom_filter_create(&newer.known, &filter) == OCTOBLOOM_INVALID_ARGUMENT);
  newer.known.reserved = 0;
  newer.known.kind = 5;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "0 to 4, not 5",
        octobloom_filter_create(&newer.known, &filter));
  newer.known.kind = -1;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "0 to 4, not -1",
        octobloom_filter_create(&newer.known, &filter));
  newer.known.kind = OCTOBLOOM_PLAIN;
  newer.known.growth = 2;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "takes no growth",
        octobloom_filter_create(&newer.known, &filter));
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "options is null", octobloom_filter_create(NULL, &filter));

  memset(&result, 0xEE, sizeof result);
  result.known.size = sizeof result;
  OK(octobloom_filter_get_facts(filter, &result.known));
  CHECK(result.known.size == sizeof result && result.known.k == plan.k && result.later == 0);
  result.later = 7;
  result.known.size = sizeof result.known;
  OK(octobloom_filter_get_facts(filter, &result.known));
  CHECK(result.later == 7);
  result.known.size = sizeof result.known - 1;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "octobloom_facts",
        octobloom_filter_get_facts(filter, &result.known));
  options.size = 3;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "octobloom_call_options",
        octobloom_filter_insert(filter, &keys, &options));
  octobloom_filter_destroy(filter);
}

static void test_engines(const char* path) {
  octobloom_filter* filter = new_filter(COUNT, 0.001);
  octobloom_filter* here = new_filter(COUNT, 0.001);
  octobloom_keys keys = integers(0, COUNT);
  octobloom_call_options by_name;
  octobloom_create_options create_options;
  octobloom_plan plan = plan_of(COUNT, 0.001);
  uint64_t count = 0;
  octobloom_view a, b;
  (void)path;
  memset(&by_name, 0, sizeof by_name);
  by_name.size = sizeof by_name;
  by_name.engine = "reference";
  CHECK(octobloom_default_engine() != NULL);
  CHECK(strcmp(octobloom_filter_engine(filter), octobloom_default_engine()) == 0);
  OK(octobloom_engine_require("reference"));
  OK(octobloom_engine_require("auto"));
  FAILS(OCTOBLOOM_ENGINE_UNAVAILABLE, "warp", octobloom_engine_require("warp"));
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "engine is null", octobloom_engine_require(NULL));
  FAILS(OCTOBLOOM_ENGINE_UNAVAILABLE, "warp", octobloom_filter_use(filter, "warp"));
  OK(octobloom_filter_insert(filter, &keys, NULL));
  OK(octobloom_filter_use(filter, "reference"));
  CHECK(strcmp(octobloom_filter_engine(filter), "reference") == 0);
  OK(octobloom_filter_may_contain(filter, &keys, NULL, NULL, &count));
  CHECK(count == COUNT);
  OK(octobloom_filter_insert(here, &keys, &by_name));
  OK(octobloom_filter_get_view(filter, &a));
  OK(octobloom_filter_get_view(here, &b));
  CHECK(memcmp(a.words, b.words, 64 * (size_t)a.blocks) == 0);
  by_name.engine = "warp";
  FAILS(OCTOBLOOM_ENGINE_UNAVAILABLE, "warp", octobloom_filter_insert(here, &keys, &by_name));
  FAILS(OCTOBLOOM_ENGINE_UNAVAILABLE, "warp", octobloom_view_insert(&b, &keys, &by_name));
  octobloom_filter_destroy(here);
  here = NULL;
  create_options = options_of(OCTOBLOOM_PLAIN, &plan);
  create_options.engine = "warp";
  FAILS(OCTOBLOOM_ENGINE_UNAVAILABLE, "warp", octobloom_filter_create(&create_options, &here));
  CHECK(here == NULL);
  create_options.engine = "reference";
  OK(octobloom_filter_create(&create_options, &here));
  CHECK(strcmp(octobloom_filter_engine(here), "reference") == 0);
  octobloom_filter_destroy(here);
  octobloom_filter_destroy(filter);
}

/* Arrays that somebody made by hand. */
static void release_nothing_schema(struct ArrowSchema* schema) {
  schema->release = NULL;
}
static void release_nothing_array(struct ArrowArray* array) {
  array->release = NULL;
}

static struct ArrowSchema schema_of(const char* format) {
  struct ArrowSchema schema;
  memset(&schema, 0, sizeof schema);
  schema.format = format;
  schema.release = release_nothing_schema;
  return schema;
}

static struct ArrowArray array_of(int64_t length, int64_t n_buffers, const void** buffers) {
  struct ArrowArray array;
  memset(&array, 0, sizeof array);
  array.length = length;
  array.n_buffers = n_buffers;
  array.buffers = buffers;
  array.release = release_nothing_array;
  return array;
}

static void test_arrow(const char* path) {
  const uint8_t valid = 0x3B; /* row 2 is null, and 6 and 7 */
  const int32_t values[] = {0, 1, 2, 3, 4, 5, 6, 7};
  const void* buffers[] = {NULL, NULL};
  struct ArrowSchema schema = schema_of("i");
  struct ArrowArray array = array_of(8, 2, buffers);
  struct ArrowSchema told = schema_of("");
  struct ArrowArray answers_array;
  struct ArrowSchema* children[2];
  struct ArrowArray* columns[2];
  struct ArrowSchema struct_schema = schema_of("+s");
  struct ArrowArray struct_array;
  const void* no_validity[] = {NULL};
  uint64_t hashes[8];
  int32_t family = 0;
  octobloom_filter* filter = new_filter(COUNT, 0.001);
  octobloom_filter* counting = NULL;
  octobloom_plan plan = plan_of(COUNT, 0.001);
  uint8_t bitmap = 0;
  uint8_t has = 0;
  uint64_t count = 0;
  SIZED(octobloom_answers, answers);
  (void)path;
  buffers[0] = &valid;
  buffers[1] = values;
  array.null_count = 3;
  answers.bitmap = &bitmap;
  answers.valid = &has;
  answers.array = &answers_array;
  answers.schema = &told;

  OK(octobloom_filter_insert_arrow(filter, &schema, &array, NULL, &count));
  CHECK(count == 5);
  OK(octobloom_filter_may_contain_arrow(filter, &schema, &array, NULL, &answers));
  CHECK(answers.count == 5 && bitmap == valid && has == valid);
  CHECK(strcmp(told.format, "b") == 0 && answers_array.length == 8);
  CHECK(answers_array.null_count == 3 && answers_array.n_buffers == 2);
  CHECK(*(const uint8_t*)answers_array.buffers[0] == valid);
  CHECK(*(const uint8_t*)answers_array.buffers[1] == valid);
  answers_array.release(&answers_array);
  told.release(&told);
  CHECK(answers_array.release == NULL && told.release == NULL);
  CHECK(octobloom_filter_may_contain_hash(filter, octobloom_hash_integer(3, 0), 1) == 1);
  CHECK(octobloom_filter_may_contain_hash(filter, octobloom_hash_integer(2, 0), 1) == 0);

  answers.array = NULL;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "schema without an array",
        octobloom_filter_may_contain_arrow(filter, &schema, &array, NULL, &answers));
  answers.schema = NULL;
  array.offset = 1; /* rows 1 to 4 */
  array.length = 4;
  OK(octobloom_filter_insert_new_arrow(filter, &schema, &array, NULL, &answers));
  CHECK(answers.count == 0 && bitmap == 0 && has == 0x0D);
  OK(octobloom_filter_insert_new_arrow(filter, &schema, &array, NULL, NULL));
  OK(octobloom_hash_arrow(&schema, &array, 0, NULL, hashes, &has, &family));
  CHECK(has == 0x0D && family == OCTOBLOOM_FAMILY_INTEGERS);
  CHECK(hashes[0] == octobloom_hash_integer(1, 0) && hashes[3] == octobloom_hash_integer(4, 0));

  OK(create(OCTOBLOOM_COUNTING, &plan, &counting));
  OK(octobloom_filter_insert_arrow(counting, &schema, &array, NULL, NULL));
  array.length = 7;
  OK(octobloom_filter_remove_arrow(counting, &schema, &array, NULL, &answers));
  CHECK(answers.count == 3 && bitmap == 0x0D);
  CHECK(facts_of(counting).inserted_keys == 0);
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "cannot take keys back",
        octobloom_filter_remove_arrow(filter, &schema, &array, NULL, &answers));

  /* (n, n) of rows 1 to 4: composites, which are never null. */
  array.offset = 0;
  array.length = 8;
  children[0] = children[1] = &schema;
  columns[0] = columns[1] = &array;
  struct_schema.n_children = 2;
  struct_schema.children = children;
  struct_array = array_of(4, 1, no_validity);
  struct_array.offset = 1;
  struct_array.n_children = 2;
  struct_array.children = columns;
  OK(octobloom_filter_insert_arrow(filter, &struct_schema, &struct_array, NULL, &count));
  CHECK(count == 4 && families_in(filter) == 9);
  struct_array.length = 8;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "column 0 has 8 rows where 9 are needed",
        octobloom_filter_insert_arrow(filter, &struct_schema, &struct_array, NULL, &count));
  struct_array.length = 4;
  struct_array.null_count = -1;
  no_validity[0] = &valid;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "null structs",
        octobloom_filter_insert_arrow(filter, &struct_schema, &struct_array, NULL, &count));

  schema.format = "+l";
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "a nested type",
        octobloom_filter_insert_arrow(filter, &schema, &array, NULL, &count));
  schema.format = "tiM";
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "an interval",
        octobloom_filter_insert_arrow(filter, &schema, &array, NULL, &count));
  schema.format = "d:9,2,77";
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "d:9,2,77",
        octobloom_filter_insert_arrow(filter, &schema, &array, NULL, &count));
  schema.format = "u";
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "2 buffers, not 3",
        octobloom_filter_insert_arrow(filter, &schema, &array, NULL, &count));
  schema.format = "i";
  schema.dictionary = &told;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "no dictionary",
        octobloom_filter_insert_arrow(filter, &schema, &array, NULL, &count));
  schema.dictionary = NULL;
  array.length = -1;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "length of -1",
        octobloom_filter_insert_arrow(filter, &schema, &array, NULL, &count));
  array.length = 8;
  buffers[0] = NULL;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "no validity bitmap",
        octobloom_filter_insert_arrow(filter, &schema, &array, NULL, &count));
  array.release = NULL;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "released",
        octobloom_filter_insert_arrow(filter, &schema, &array, NULL, &count));
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "schema is null",
        octobloom_filter_insert_arrow(filter, NULL, &array, NULL, &count));
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "array is null",
        octobloom_filter_insert_arrow(filter, &schema, NULL, NULL, &count));

  schema.format = "n"; /* nulls without a type: no mistake anywhere */
  array = array_of(5, 0, NULL);
  bitmap = has = 0x77;
  OK(octobloom_filter_may_contain_arrow(filter, &schema, &array, NULL, &answers));
  CHECK(answers.count == 0 && bitmap == 0 && has == 0);
  octobloom_filter_destroy(counting);
  octobloom_filter_destroy(filter);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(const char* path);
  } tests[] = {
      {"plans", test_plans},       {"filters", test_filters},   {"files", test_files},
      {"growing", test_growing},   {"counting", test_counting}, {"views", test_views},
      {"bytes", test_bytes},       {"verdicts", test_verdicts}, {"errors", test_errors},
      {"families", test_families}, {"kinds", test_kinds},       {"sizes", test_sizes},
      {"engines", test_engines},   {"arrow", test_arrow},
  };
  size_t i;
  for (i = 0; i < 2 * COUNT; ++i) numbers[i] = i;
  everywhere.size = sizeof everywhere;
  everywhere.threads = OCTOBLOOM_ALL_THREADS;
  unverified.size = sizeof unverified;
  unverified.skip_verify = 1;
  for (i = 0; argc == 3 && i < sizeof tests / sizeof tests[0]; ++i) {
    if (strcmp(argv[1], tests[i].name) != 0) continue;
    tests[i].run(argv[2]);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  fprintf(stderr, "usage: c_abi TEST FILE\n");
  return EXIT_FAILURE;
}
