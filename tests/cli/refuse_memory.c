/* To be preloaded: refuses memory, or threads, to the program that it is loaded into.
 *
 *   OCTOBLOOM_REFUSE=once:N   the Nth request is refused
 *   OCTOBLOOM_REFUSE=from:N   that one and all that follow
 *   OCTOBLOOM_REFUSE=heap|pages|threads, after a further colon ("once:3:pages"), says of what;
 *                             default: heap
 *   OCTOBLOOM_REFUSE_COUNT    a file that takes the number of requests when the program ends
 *   OCTOBLOOM_REFUSE_START=loader  counts from the end of the dynamic loader's work, before the
 *                             constructors of libraries; "main": from main() on; otherwise
 *                             counting begins with the program's own static initialisers
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What glibc calls its own, so that no look-up, which takes memory, is needed. */
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

enum what { heap, pages, threads };

static atomic_int counts;
static atomic_ulong requests;
static enum what refused;
static unsigned long first_refused;
static int goes_on;

static int refuses(enum what kind) {
  if (!atomic_load(&counts) || kind != refused) return 0;
  const unsigned long number = atomic_fetch_add(&requests, 1) + 1;
  if (first_refused == 0) return 0;
  return goes_on ? number >= first_refused : number == first_refused;
}

static void begin(void) {
  const char* wish = getenv("OCTOBLOOM_REFUSE");
  if (wish == NULL) return;
  goes_on = strncmp(wish, "from:", 5) == 0;
  char* end = NULL;
  first_refused = strtoul(wish + 5, &end, 10);
  if (strcmp(end, ":pages") == 0) refused = pages;
  if (strcmp(end, ":threads") == 0) refused = threads;
  alarm(60); /* a program that hangs is found by its signal */
  atomic_store(&counts, 1);
}

static int starts_with(const char* when) {
  const char* start = getenv("OCTOBLOOM_REFUSE_START");
  return strcmp(start == NULL ? "initialisers" : start, when) == 0;
}

__attribute__((constructor)) static void after_the_loader(void) {
  if (starts_with("loader")) begin();
}

static int (*main_of_program)(int, char**, char**);

static int main_with_refusals(int argc, char** argv, char** environment) {
  if (starts_with("main")) begin();
  return main_of_program(argc, argv, environment);
}

/* Runs between the constructors of the libraries and those of the program. */
int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void* stack_end) {
  typedef int start_main(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void),
                         void (*)(void), void*);
  extern void* dlsym(void*, const char*);
  start_main* next = NULL;
  void* found = dlsym((void*)-1L /* RTLD_NEXT */, "__libc_start_main");
  memcpy(&next, &found, sizeof next);
  main_of_program = main;
  if (starts_with("initialisers")) begin();
  return next(main_with_refusals, argc, argv, init, fini, rtld_fini, stack_end);
}

__attribute__((destructor)) static void tell(void) {
  atomic_store(&counts, 0);
  const char* path = getenv("OCTOBLOOM_REFUSE_COUNT");
  if (path == NULL) return;
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  char text[24];
  const int size = snprintf(text, sizeof text, "%lu", atomic_load(&requests));
  if (file < 0 || write(file, text, (size_t)size) != size) _exit(99);
  close(file);
}

static void* no_memory(void) {
  errno = ENOMEM;
  return NULL;
}

void* malloc(size_t size) {
  return refuses(heap) ? no_memory() : __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  return refuses(heap) ? no_memory() : __libc_calloc(count, size);
}

void* realloc(void* old, size_t size) {
  return refuses(heap) ? no_memory() : __libc_realloc(old, size);
}

void* memalign(size_t alignment, size_t size) {
  return refuses(heap) ? no_memory() : __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void** out, size_t alignment, size_t size) {
  void* memory = memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *out = memory;
  return 0;
}

void* mmap(void* where, size_t size, int protection, int flags, int file, off_t offset) {
  if ((flags & MAP_ANONYMOUS) != 0 && refuses(pages)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return (void*)syscall(SYS_mmap, where, size, protection, flags, file, offset);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) {
  typedef int create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  extern void* dlsym(void*, const char*);
  if (refuses(threads)) return EAGAIN;
  create* next = NULL;
  void* found = dlsym((void*)-1L /* RTLD_NEXT */, "pthread_create");
  memcpy(&next, &found, sizeof next);
  return next(thread, attributes, run, argument);
}
