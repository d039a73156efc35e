# Completion of haichi for bash. What the commands and options are, haichi says itself.
_haichi() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
  local commands="run where measure replay config simulate compare report explain export import fit record predict advise gasfs --version --help"
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word")
    return
  fi
  # Behind --, and behind the program that `run` starts, stand another program's words.
  local i
  for ((i = 2; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} == -- || ($command == run && ${COMP_WORDS[i]} != -*) ]]; then
      compopt -o bashdefault -o default
      return
    fi
  done
  if [[ $word == -* ]]; then
    local options
    options=$("${COMP_WORDS[0]}" "$command" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]+' | sort -u)
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  else
    compopt -o bashdefault -o default
  fi
}
complete -F _haichi haichi
