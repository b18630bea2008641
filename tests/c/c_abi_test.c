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

static octobloom_filter* new_filter(uint64_t keys, double fpr) {
  const octobloom_plan plan = plan_of(keys, fpr);
  octobloom_filter* filter = NULL;
  OK(octobloom_filter_create(&plan, NULL, &filter));
  return filter;
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
  octobloom_info info;
  octobloom_statistics statistics;
  uint8_t bitmap[(2 * COUNT + 7) / 8];
  uint64_t count = 0;
  (void)path;

  OK(octobloom_filter_insert(filter, &keys, 1));
  keys = integers(0, 2 * COUNT);
  OK(octobloom_filter_may_contain(filter, &keys, bitmap, &count, 0));
  CHECK(count >= COUNT && count < COUNT + 20);
  CHECK(bitmap[0] == 0xFF && bitmap[COUNT / 8 - 1] == 0xFF);
  OK(octobloom_filter_may_contain(filter, &keys, NULL, NULL, 1));

  keys = lines();
  OK(octobloom_filter_insert_new(other, &keys, bitmap, &count, 1));
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
  OK(octobloom_filter_get_info(filter, &info));
  CHECK(info.inserted_keys == COUNT + 5 && info.planned_keys == COUNT && info.levels == 1);
  CHECK(info.bytes == 64 * (uint64_t)info.blocks && info.seed == 0 && !info.callers_hashes);
  OK(octobloom_filter_get_statistics(filter, &statistics));
  CHECK(statistics.fill > 0.3 && statistics.fill < 0.7);
  CHECK(statistics.estimated_keys > 950 && statistics.estimated_keys < 1060);
  CHECK(statistics.current_fpr > 0.0003 && statistics.current_fpr < 0.002);
  OK(octobloom_filter_clear(filter));
  OK(octobloom_filter_get_statistics(filter, &statistics));
  CHECK(statistics.fill == 0 && statistics.estimated_keys == 0);
  octobloom_filter_destroy(other);
  octobloom_filter_destroy(filter);
  octobloom_filter_destroy(NULL);
}

static void test_files(const char* path) {
  octobloom_filter* filter = new_filter(COUNT, 0.001);
  octobloom_filter* loaded = NULL;
  octobloom_growing* growing = NULL;
  const octobloom_keys keys = integers(0, COUNT);
  uint64_t count = 0;
  FILE* file;

  OK(octobloom_filter_insert(filter, &keys, 1));
  OK(octobloom_filter_save(filter, path));
  OK(octobloom_filter_load(path, 1, &loaded));
  OK(octobloom_filter_may_contain(loaded, &keys, NULL, &count, 1));
  CHECK(count == COUNT);
  octobloom_filter_destroy(loaded);
  loaded = NULL;
  FAILS(OCTOBLOOM_BAD_FILE, "holds a plain filter, not a growing one",
        octobloom_growing_load(path, 1, &growing));
  CHECK(growing == NULL);

  file = fopen(path, "r+b"); /* one bit of the body */
  CHECK(file != NULL && fseek(file, 200, SEEK_SET) == 0 && fputc(0x5A, file) != EOF);
  CHECK(file != NULL && fclose(file) == 0);
  FAILS(OCTOBLOOM_BAD_FILE, "checksum", octobloom_filter_load(path, 1, &loaded));
  CHECK(loaded == NULL);
  OK(octobloom_filter_load(path, 0, &loaded));
  octobloom_filter_destroy(loaded);
  CHECK(remove(path) == 0);
  FAILS(OCTOBLOOM_IO, path, octobloom_filter_load(path, 1, &loaded));
  FAILS(OCTOBLOOM_IO, "no/such", octobloom_filter_save(filter, "no/such/folder/x.octobloom"));
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "path is null", octobloom_filter_load(NULL, 1, &loaded));
  octobloom_filter_destroy(filter);
}

static void test_bytes(const char* path) {
  octobloom_growing* growing = NULL;
  octobloom_growing* back = NULL;
  octobloom_filter* filter = NULL;
  const octobloom_keys keys = integers(0, COUNT);
  unsigned char* bytes;
  unsigned char* in_file;
  uint64_t size = 0;
  uint64_t count = 0;
  FILE* file;

  OK(octobloom_growing_create(10, 0.01, 2, 1, NULL, &growing));
  OK(octobloom_growing_insert(growing, &keys, 1));
  OK(octobloom_growing_to_bytes(growing, NULL, 0, &size));
  CHECK(size > 1000);
  bytes = (unsigned char*)malloc((size_t)size + 1);
  in_file = (unsigned char*)malloc((size_t)size + 1);
  memset(bytes, 0xEE, (size_t)size + 1);
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "bytes, the memory for them",
        octobloom_growing_to_bytes(growing, bytes, size - 1, &size));
  CHECK(bytes[0] == 0xEE);
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "size is null",
        octobloom_growing_to_bytes(growing, bytes, size, NULL));
  OK(octobloom_growing_to_bytes(growing, bytes, size, &size));
  CHECK(bytes[size] == 0xEE);
  OK(octobloom_growing_save(growing, path));
  file = fopen(path, "rb");
  CHECK(file != NULL && fread(in_file, 1, (size_t)size + 1, file) == size);
  CHECK(file != NULL && fclose(file) == 0);
  CHECK(memcmp(bytes, in_file, (size_t)size) == 0);
  CHECK(remove(path) == 0);

  OK(octobloom_growing_from_bytes(bytes, size, 1, &back));
  OK(octobloom_growing_may_contain(back, &keys, NULL, &count, 1));
  CHECK(count == COUNT);
  octobloom_growing_destroy(back);
  back = NULL;
  FAILS(OCTOBLOOM_BAD_FILE, "cut off", octobloom_growing_from_bytes(bytes, size - 1, 1, &back));
  FAILS(OCTOBLOOM_BAD_FILE, "appended", octobloom_growing_from_bytes(bytes, size + 1, 1, &back));
  FAILS(OCTOBLOOM_BAD_FILE, "holds a growing filter, not a plain one",
        octobloom_filter_from_bytes(bytes, size, 1, &filter));
  bytes[size - 1] ^= 1;
  FAILS(OCTOBLOOM_BAD_FILE, "checksum", octobloom_growing_from_bytes(bytes, size, 1, &back));
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "bytes is null",
        octobloom_growing_from_bytes(NULL, size, 1, &back));
  CHECK(back == NULL && filter == NULL);
  free(bytes);
  free(in_file);
  octobloom_growing_destroy(growing);
}

static void test_growing(const char* path) {
  octobloom_growing* growing = NULL;
  octobloom_growing* loaded = NULL;
  const octobloom_keys keys = integers(0, COUNT);
  const octobloom_keys all = integers(0, 2 * COUNT);
  octobloom_info info;
  octobloom_statistics statistics;
  uint64_t count = 0;

  OK(octobloom_growing_create(10, 0.001, 0, 0, NULL, &growing));
  OK(octobloom_growing_insert(growing, &keys, 1));
  OK(octobloom_growing_get_info(growing, &info));
  CHECK(info.levels == 7 && info.planned_keys == 10 && info.inserted_keys == COUNT);
  OK(octobloom_growing_insert_new(growing, &all, NULL, &count, 1));
  CHECK(count <= COUNT && count > COUNT - 10);
  OK(octobloom_growing_get_statistics(growing, &statistics));
  CHECK(statistics.current_fpr < 0.001 && statistics.estimated_keys > 2 * COUNT - 10);
  OK(octobloom_growing_save(growing, path));
  OK(octobloom_growing_load(path, 1, &loaded));
  CHECK(remove(path) == 0);
  OK(octobloom_growing_may_contain(loaded, &all, NULL, &count, 1));
  CHECK(count == 2 * COUNT);
  OK(octobloom_growing_clear(loaded));
  OK(octobloom_growing_get_info(loaded, &info));
  CHECK(info.levels == 1 && info.inserted_keys == 0);
  octobloom_growing_destroy(loaded);
  octobloom_growing_destroy(growing);
  growing = NULL;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "2 to 16",
        octobloom_growing_create(10, 0.1, 99, 0, NULL, &growing));
  OK(octobloom_growing_create(1, 2e-8, 2, 1, NULL, &growing));
  FAILS(OCTOBLOOM_FULL, "start with more keys", octobloom_growing_insert(growing, &keys, 1));
  octobloom_growing_destroy(growing);
  octobloom_growing_destroy(NULL);
}

static void test_counting(const char* path) {
  const octobloom_plan plan = plan_of(COUNT, 0.001);
  octobloom_counting* counting = NULL;
  octobloom_counting* loaded = NULL;
  octobloom_filter* snapshot = NULL;
  const octobloom_keys keys = integers(0, COUNT);
  const octobloom_keys half = integers(COUNT / 2, COUNT / 2);
  octobloom_info info;
  octobloom_statistics statistics;
  uint8_t bitmap[(COUNT + 7) / 8];
  uint64_t count = 0;

  OK(octobloom_counting_create(&plan, NULL, &counting));
  OK(octobloom_counting_insert_new(counting, &keys, NULL, &count, 1));
  CHECK(count <= COUNT && count > COUNT - 10);
  OK(octobloom_counting_insert(counting, &keys, 1));
  OK(octobloom_counting_insert(counting, &keys, 1));
  OK(octobloom_counting_get_info(counting, &info));
  CHECK(info.bytes == 320 * (uint64_t)info.blocks && info.inserted_keys == 2 * COUNT + count);
  OK(octobloom_counting_snapshot(counting, &snapshot));
  OK(octobloom_counting_remove(counting, &half, bitmap, &count, 1));
  CHECK(count == COUNT / 2 && bitmap[0] == 0xFF);
  OK(octobloom_counting_save(counting, path));
  OK(octobloom_counting_load(path, 1, &loaded));
  CHECK(remove(path) == 0);
  OK(octobloom_counting_may_contain(loaded, &keys, NULL, &count, 1));
  CHECK(count == COUNT);
  OK(octobloom_counting_merge(loaded, counting));
  OK(octobloom_counting_get_statistics(loaded, &statistics));
  CHECK(statistics.fill > 0.2);
  OK(octobloom_counting_clear(loaded));
  OK(octobloom_counting_may_contain(loaded, &keys, NULL, &count, 1));
  CHECK(count == 0);
  OK(octobloom_filter_may_contain(snapshot, &keys, NULL, &count, 1));
  CHECK(count == COUNT);
  octobloom_filter_destroy(snapshot);
  octobloom_counting_destroy(loaded);
  octobloom_counting_destroy(counting);
  octobloom_counting_destroy(NULL);
}

static void test_views(const char* path) {
  enum { BLOCKS = 40 };
  static unsigned char memory[64 * (BLOCKS + 1)];
  const octobloom_keys keys = integers(0, COUNT);
  const octobloom_options options = {9, 0};
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
  OK(octobloom_filter_create(&plan, &options, &filter));
  OK(octobloom_filter_insert_new(filter, &keys, NULL, &count, 1));
  OK(octobloom_view_insert_new(&view, &keys, NULL, &fresh, 1));
  CHECK(fresh == count);
  OK(octobloom_filter_get_view(filter, &inside));
  CHECK(inside.blocks == BLOCKS && inside.k == 8 && inside.seed == 9);
  CHECK(memcmp(inside.words, view.words, 64 * BLOCKS) == 0);
  OK(octobloom_view_may_contain(&view, &keys, NULL, &count, 1));
  CHECK(count == COUNT);
  OK(octobloom_view_get_statistics(&view, &statistics));
  CHECK(statistics.fill > 0.2 && statistics.fill < 0.5);
  OK(octobloom_view_insert(&view, &keys, 1));
  CHECK(memcmp(inside.words, view.words, 64 * BLOCKS) == 0);
  octobloom_filter_destroy(filter);

  view.words = (uint64_t*)(void*)(memory + shift + 8);
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "aligned to 64 bytes", octobloom_view_insert(&view, &keys, 1));
  view.words = NULL;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "words is null", octobloom_view_insert(&view, &keys, 1));
  view.words = (uint64_t*)(void*)(memory + shift);
  view.k = 25;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "k is from 1 to 24", octobloom_view_insert(&view, &keys, 1));
  view.k = 8;
  view.callers_hashes = 1;
  FAILS(OCTOBLOOM_WRONG_KEY, "hashes", octobloom_view_insert(&view, &keys, 1));
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
        octobloom_filter_insert(filter, &keys, 1));
  keys.separator = 0; /* two empty strings */
  OK(octobloom_filter_insert(filter, &keys, 1));
  keys.bytes = NULL;
  OK(octobloom_filter_insert(filter, &keys, 1));
  keys.separator = UINT64_MAX;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "string 0", octobloom_filter_insert(filter, &keys, 1));
  keys.bytes = bytes;
  keys.offsets = offsets;
  for (i = 0; i <= LONG; ++i) offsets[i] = 3 * i;
  for (keys.separator = 0; keys.separator <= 3; ++keys.separator) {
    for (c = 0; c < sizeof counts / sizeof *counts; ++c) {
      keys.count = counts[c];
      OK(octobloom_filter_may_contain(filter, &keys, bitmap, NULL, 1));
      for (i = 0; i < keys.count; i += i < 20 || i + 20 > keys.count ? 1 : 37) {
        const uint64_t before = offsets[i];
        memset(bitmap, 0x5A, sizeof bitmap);
        offsets[i] = 3 * (i + 1) + 1 - keys.separator; /* too near to the next one, by one */
        FAILS(OCTOBLOOM_INVALID_ARGUMENT, "no length",
              octobloom_filter_may_contain(filter, &keys, bitmap, &count, 1));
        for (h = 0; h < sizeof huge / sizeof *huge; ++h) {
          offsets[i] = huge[h];
          FAILS(OCTOBLOOM_INVALID_ARGUMENT, "no length",
                octobloom_filter_insert_new(filter, &keys, bitmap, &count, 1));
        }
        CHECK(bitmap[0] == 0x5A && count == 99);
        offsets[i] = before;
      }
    }
  }
  keys.separator = 4;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "string 0", octobloom_filter_insert(filter, &keys, 1));
  keys.separator = 0;
  keys.bytes = NULL;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "bytes is null", octobloom_filter_insert(filter, &keys, 1));
}

static void test_errors(const char* path) {
  octobloom_plan plan = plan_of(COUNT, 0.01);
  octobloom_filter* filter = new_filter(COUNT, 0.01);
  octobloom_filter* other = new_filter(COUNT, 0.1);
  octobloom_filter* hashes = NULL;
  octobloom_options options = {1, 1};
  octobloom_keys keys = integers(0, 4);
  octobloom_info info;
  int status;
  (void)path;
  CHECK(octobloom_message()[0] == '\0');

  FAILS(OCTOBLOOM_MISMATCH, "blocks", octobloom_filter_merge(filter, other));
  OK(octobloom_filter_get_info(filter, &info));
  CHECK(info.inserted_keys == 0);
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "filter is null", octobloom_filter_insert(NULL, &keys, 1));
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "keys is null", octobloom_filter_insert(filter, NULL, 1));
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "info is null", octobloom_filter_get_info(filter, NULL));
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "result is null", octobloom_filter_create(&plan, NULL, NULL));
  keys.kind = 3;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "kind is 0, 1 or 2", octobloom_filter_insert(filter, &keys, 1));
  keys.kind = OCTOBLOOM_STRINGS;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "offsets is null", octobloom_filter_insert(filter, &keys, 1));
  test_offsets(filter);
  keys.kind = OCTOBLOOM_INTEGERS;
  keys.values = NULL;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "values is null", octobloom_filter_insert(filter, &keys, 1));
  keys.count = 0;
  OK(octobloom_filter_insert(filter, &keys, 1));

  plan.target_fpr = -1;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "target rate", octobloom_filter_create(&plan, NULL, &hashes));
  plan.target_fpr = 0.01;
  OK(octobloom_filter_create(&plan, &options, &hashes));
  keys = integers(0, 4);
  FAILS(OCTOBLOOM_WRONG_KEY, "hashes", octobloom_filter_insert(hashes, &keys, 1));
  keys.kind = OCTOBLOOM_HASHES;
  OK(octobloom_filter_insert(hashes, &keys, 1));
  FAILS(OCTOBLOOM_MISMATCH, "hash id", octobloom_filter_merge(filter, hashes));

  plan.blocks = UINT32_MAX; /* 256 GiB: refused before anything is taken */
  status = (int)octobloom_filter_create(&plan, NULL, &other);
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
  octobloom_statistics statistics;
  OK(octobloom_filter_get_statistics(filter, &statistics));
  return statistics.verdict;
}

static void test_verdicts(const char* path) {
  octobloom_plan plan = plan_of(COUNT, 0.01);
  octobloom_filter* filter = new_filter(COUNT, 0.01);
  octobloom_filter* liar = NULL;
  octobloom_counting* counting = NULL;
  octobloom_growing* growing = NULL;
  octobloom_statistics statistics;
  octobloom_info info;
  octobloom_view view;
  octobloom_keys keys = integers(0, COUNT);
  CHECK(strcmp(octobloom_verdict_name(OCTOBLOOM_VERDICT_FINE), "fine") == 0);
  CHECK(strcmp(octobloom_verdict_name(OCTOBLOOM_VERDICT_FULL), "full") == 0);
  CHECK(strcmp(octobloom_verdict_name(OCTOBLOOM_VERDICT_OVER_FULL), "over-full") == 0);

  OK(octobloom_filter_insert(filter, &keys, 1));
  OK(octobloom_filter_insert(filter, &keys, 1)); /* repeats count for nothing */
  CHECK(verdict_of(filter) == OCTOBLOOM_VERDICT_FINE);
  keys = integers(COUNT, COUNT / 5);
  OK(octobloom_filter_insert(filter, &keys, 1));
  CHECK(verdict_of(filter) == OCTOBLOOM_VERDICT_FULL);
  keys = integers(COUNT, COUNT);
  OK(octobloom_filter_insert(filter, &keys, 1));
  CHECK(verdict_of(filter) == OCTOBLOOM_VERDICT_OVER_FULL);
  OK(octobloom_filter_get_view(filter, &view));
  OK(octobloom_view_get_statistics(&view, &statistics));
  CHECK(statistics.verdict == OCTOBLOOM_VERDICT_FULL); /* by fill: 0.7 of the bits */

  OK(octobloom_filter_clear(filter));
  CHECK(verdict_of(filter) == OCTOBLOOM_VERDICT_FINE);
  OK(octobloom_filter_save(filter, path));
  set_all_bits(path, 0, 0);
  OK(octobloom_filter_load(path, 1, &liar));
  OK(octobloom_filter_get_info(liar, &info));
  CHECK(info.inserted_keys == 0 && verdict_of(liar) == OCTOBLOOM_VERDICT_OVER_FULL);

  keys = integers(0, COUNT);
  OK(octobloom_counting_create(&plan, NULL, &counting));
  OK(octobloom_counting_insert(counting, &keys, 1));
  OK(octobloom_counting_get_statistics(counting, &statistics));
  CHECK(statistics.verdict == OCTOBLOOM_VERDICT_FINE);
  keys = integers(COUNT, COUNT / 5);
  OK(octobloom_counting_insert(counting, &keys, 1));
  OK(octobloom_counting_get_statistics(counting, &statistics));
  CHECK(statistics.verdict == OCTOBLOOM_VERDICT_FULL);
  keys = integers(COUNT, COUNT);
  OK(octobloom_counting_insert(counting, &keys, 1));
  OK(octobloom_counting_get_statistics(counting, &statistics));
  CHECK(statistics.verdict == OCTOBLOOM_VERDICT_OVER_FULL);

  OK(octobloom_growing_create(COUNT, 0.01, 0, 0, NULL, &growing));
  OK(octobloom_growing_insert(growing, &keys, 1));
  OK(octobloom_growing_get_statistics(growing, &statistics));
  CHECK(statistics.verdict == OCTOBLOOM_VERDICT_FINE);
  OK(octobloom_growing_save(growing, path));
  octobloom_growing_destroy(growing);
  set_all_bits(path, 128, 0); /* behind its table of one level */
  OK(octobloom_growing_load(path, 1, &growing));
  OK(octobloom_growing_get_statistics(growing, &statistics));
  CHECK(statistics.verdict == OCTOBLOOM_VERDICT_OVER_FULL);

  CHECK(remove(path) == 0);
  octobloom_growing_destroy(growing);
  octobloom_counting_destroy(counting);
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
  octobloom_info info;
  memset(&info, 0, sizeof info);
  OK(octobloom_filter_get_info(filter, &info));
  return info.families;
}

static void test_families(const char* path) {
  octobloom_filter* filter = new_filter(COUNT, 0.001);
  octobloom_filter* loaded = NULL;
  octobloom_growing* growing = NULL;
  octobloom_counting* counting = NULL;
  const octobloom_plan plan = plan_of(COUNT, 0.001);
  octobloom_info info;
  octobloom_keys keys = lines();
  octobloom_view view;
  uint64_t count = 99;
  uint8_t bitmap = 0x77;

  CHECK(families_in(filter) == 0);
  OK(octobloom_filter_may_contain(filter, &keys, NULL, NULL, 1));
  keys = integers(0, 8);
  OK(octobloom_filter_insert(filter, &keys, 1));
  CHECK(families_in(filter) == OCTOBLOOM_FAMILY_INTEGERS);
  keys = lines();
  FAILS(OCTOBLOOM_WRONG_KEY, "integers",
        octobloom_filter_may_contain(filter, &keys, &bitmap, &count, 1));
  CHECK(bitmap == 0x77 && count == 99);
  CHECK(octobloom_filter_may_contain_hash(filter, 1, 0) == -OCTOBLOOM_WRONG_KEY);
  CHECK(strstr(octobloom_message(), "hashes") != NULL);
  CHECK(octobloom_filter_may_contain_hash(filter, octobloom_hash_integer(7, 0),
                                          OCTOBLOOM_FAMILY_INTEGERS) == 1);
  OK(octobloom_filter_accept_any_family(filter, 1));
  OK(octobloom_filter_may_contain(filter, &keys, &bitmap, &count, 1));
  CHECK(octobloom_filter_may_contain_hash(filter, 1, 0) >= 0);
  OK(octobloom_filter_accept_any_family(filter, 0));
  FAILS(OCTOBLOOM_WRONG_KEY, "strings", octobloom_filter_may_contain(filter, &keys, NULL, NULL, 1));

  keys = hashes_of(OCTOBLOOM_FAMILY_COMPOSITES);
  OK(octobloom_filter_insert_new(filter, &keys, NULL, NULL, 1));
  CHECK(families_in(filter) == 9);
  keys = integers(0, 3); /* the bits of doubles */
  keys.family = OCTOBLOOM_FAMILY_FLOATS;
  FAILS(OCTOBLOOM_WRONG_KEY, "floating point",
        octobloom_filter_may_contain(filter, &keys, NULL, NULL, 1));
  OK(octobloom_filter_insert(filter, &keys, 1));
  octobloom_filter_insert_hash(filter, 5, 0);
  CHECK(octobloom_filter_insert_new_hash(filter, 5, OCTOBLOOM_FAMILY_STRINGS) == 0);
  CHECK(families_in(filter) == 31);
  keys.family = 3;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "not 3", octobloom_filter_insert(filter, &keys, 1));
  keys.family = OCTOBLOOM_FAMILY_STRINGS;
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "not 4", octobloom_filter_insert(filter, &keys, 1));

  OK(octobloom_filter_save(filter, path));
  OK(octobloom_filter_load(path, 1, &loaded));
  CHECK(families_in(loaded) == 31);
  OK(octobloom_filter_clear(loaded));
  CHECK(families_in(loaded) == 0);
  OK(octobloom_filter_get_view(loaded, &view));
  keys = lines();
  OK(octobloom_view_insert(&view, &keys, 1));
  OK(octobloom_filter_count_inserted(loaded, 4, 0));
  keys = integers(0, 8);
  OK(octobloom_filter_insert(loaded, &keys, 1));
  CHECK(families_in(loaded) == 0);
  OK(octobloom_filter_merge(filter, loaded));
  CHECK(families_in(filter) == 0);
  FAILS(OCTOBLOOM_INVALID_ARGUMENT, "not 7", octobloom_filter_count_inserted(loaded, 4, 7));

  OK(octobloom_growing_create(10, 0.001, 0, 0, NULL, &growing));
  OK(octobloom_counting_create(&plan, NULL, &counting));
  keys = lines();
  OK(octobloom_growing_insert(growing, &keys, 1));
  OK(octobloom_counting_insert(counting, &keys, 1));
  memset(&info, 0, sizeof info);
  OK(octobloom_growing_get_info(growing, &info));
  CHECK(info.families == OCTOBLOOM_FAMILY_STRINGS);
  OK(octobloom_counting_get_info(counting, &info));
  CHECK(info.families == OCTOBLOOM_FAMILY_STRINGS);
  keys = integers(0, 8);
  FAILS(OCTOBLOOM_WRONG_KEY, "strings",
        octobloom_growing_may_contain(growing, &keys, NULL, NULL, 1));
  FAILS(OCTOBLOOM_WRONG_KEY, "strings", octobloom_counting_remove(counting, &keys, NULL, NULL, 1));
  OK(octobloom_growing_accept_any_family(growing, 1));
  OK(octobloom_counting_accept_any_family(counting, 1));
  OK(octobloom_growing_may_contain(growing, &keys, NULL, NULL, 1));
  OK(octobloom_counting_remove(counting, &keys, NULL, NULL, 1));
  octobloom_counting_destroy(counting);
  octobloom_growing_destroy(growing);
  octobloom_filter_destroy(loaded);
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
      {"families", test_families},
  };
  size_t i;
  for (i = 0; i < 2 * COUNT; ++i) numbers[i] = i;
  for (i = 0; argc == 3 && i < sizeof tests / sizeof tests[0]; ++i) {
    if (strcmp(argv[1], tests[i].name) != 0) continue;
    tests[i].run(argv[2]);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  fprintf(stderr, "usage: c_abi TEST FILE\n");
  return EXIT_FAILURE;
}
