/* A filter that can forget, from C: made, saved, loaded whatever kind it is, and asked. */
#include <inttypes.h>
#include <octobloom/c.h>
#include <stdio.h>
#include <string.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, octobloom_message());
  return 1;
}

int main(void) {
  static const char text[] = "anna\nbob\ncarol\n";
  static const uint64_t offsets[] = {0, 5, 9, 15};
  octobloom_create_options options;
  octobloom_keys members, bob;
  octobloom_filter* filter = NULL;
  octobloom_facts facts;
  uint64_t count = 0;
  uint8_t bitmap = 0;

  memset(&options, 0, sizeof options); /* zeros are the defaults */
  options.size = sizeof options;
  options.kind = OCTOBLOOM_COUNTING;
  options.expected_keys = 1000;
  options.target_fpr = 0.001;
  if (octobloom_filter_create(&options, &filter) != OCTOBLOOM_OK) return failed("create");

  memset(&members, 0, sizeof members); /* lines of text: a byte between neighbours */
  members.kind = OCTOBLOOM_STRINGS;
  members.count = 3;
  members.bytes = text;
  members.offsets = offsets;
  members.separator = 1;
  if (octobloom_filter_insert(filter, &members, NULL) != OCTOBLOOM_OK) return failed("insert");

  bob = members;
  bob.count = 1;
  bob.offsets = offsets + 1;
  if (octobloom_filter_remove(filter, &bob, NULL, NULL, NULL) != OCTOBLOOM_OK)
    return failed("remove");
  if (octobloom_filter_save(filter, "members.octobloom") != OCTOBLOOM_OK) return failed("save");
  octobloom_filter_destroy(filter);

  if (octobloom_filter_load("members.octobloom", NULL, &filter) != OCTOBLOOM_OK)
    return failed("load");
  if (octobloom_filter_may_contain(filter, &members, NULL, &bitmap, &count) != OCTOBLOOM_OK)
    return failed("ask");
  memset(&facts, 0, sizeof facts);
  facts.size = sizeof facts;
  if (octobloom_filter_get_facts(filter, &facts) != OCTOBLOOM_OK) return failed("facts");
  printf("%" PRIu64 " of 3 are members (bits 0x%02x), in a %s filter of %" PRIu64 " bytes\n", count,
         (unsigned)bitmap, octobloom_kind_name(facts.kind), facts.bytes);
  octobloom_filter_destroy(filter);
  return 0;
}
