// forbid ANSWER CALL,... PROGRAM [ARGS]: runs PROGRAM with a filter that answers these system calls
// as ANSWER says: kill, trap, or an error number, as containers' and sandboxes' do.
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "filter.h"

int main(int count, char** words) {
  if (count < 4) return 2;
  if (!filter_calls(words[1], words[2], 0)) {
    perror("forbid: no filter");
    return 77;
  }
  execvp(words[3], words + 3);
  perror(words[3]);
  return 2;
}
