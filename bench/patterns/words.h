// A pattern as text: words KEY=VALUE on the command line, each with a default.
//
// Errors: a word that is not known or not legal ends the program on all ranks with exit code 2 and
// one line of rank 0's.
#pragma once

#include <stdint.h>

// One key. `value` points to an int64_t or, if `choices` is given ("a|b"), to an int that gets the
// index of the choice, or to a const char* if `text` is set.
typedef struct {
  const char* key;
  void* value;
  const char* choices;
  int text;
} word_t;

// Reads the words of argv from `first` on into `words`, which end with a row whose key is NULL.
void words_read(int argc, char** argv, int first, const word_t* words);

// Ends the program; call it on all ranks.
void words_refuse(const char* format, ...) __attribute__((format(printf, 1, 2), noreturn));

// The next number of a list such as 11,3,1 or 64x64x32; moves on behind it. 0 if there is none.
int64_t words_next_number(const char** at);

// Ends the job with exit code 1 if `code` is an MPI error.
void words_check(int code, const char* call);
