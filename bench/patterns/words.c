#include "words.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int world_rank(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void words_refuse(const char* format, ...) {
  if (world_rank() == 0) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
  }
  MPI_Finalize();
  exit(2);
}

void words_check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  fprintf(stderr, "rank %d: %s: %s\n", world_rank(), call, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int64_t words_next_number(const char** at) {
  if (!*at || !**at) return 0;
  char* end = NULL;
  const int64_t value = strtoll(*at, &end, 10);
  if (end == *at || value < 1) words_refuse("%s: use whole numbers, 1 or more", *at);
  *at = *end ? end + 1 : end;
  return value;
}

static int choice_index(const char* choices, const char* word) {
  const size_t length = strlen(word);
  int index = 0;
  for (const char* at = choices; at; ++index) {
    const char* bar = strchr(at, '|');
    const size_t size = bar ? (size_t)(bar - at) : strlen(at);
    if (size == length && strncmp(at, word, size) == 0) return index;
    at = bar ? bar + 1 : NULL;
  }
  words_refuse("%s: use one of %s", word, choices);
}

static int64_t count_of(const char* word, const char* text) {
  char* end = NULL;
  const int64_t value = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || value < 0)
    words_refuse("%s: use a whole number, 0 or more", word);
  return value;
}

void words_read(int argc, char** argv, int first, const word_t* words) {
  for (int i = first; i < argc; ++i) {
    const char* equals = strchr(argv[i], '=');
    const size_t length = equals ? (size_t)(equals - argv[i]) : 0;
    const word_t* word = words;
    while (word->key && !(strlen(word->key) == length && strncmp(word->key, argv[i], length) == 0))
      ++word;
    if (!equals || !word->key) words_refuse("%s: not a word of a pattern", argv[i]);
    if (word->text)
      *(const char**)word->value = equals + 1;
    else if (word->choices)
      *(int*)word->value = choice_index(word->choices, equals + 1);
    else
      *(int64_t*)word->value = count_of(argv[i], equals + 1);
  }
}
