# Completion of haichi for fish. What the options are, haichi says itself.
complete -c haichi -n __fish_use_subcommand -x -a \
  "run where measure replay config simulate compare report explain export import fit record predict advise gasfs --version --help"
function __haichi_options
    set -l words (commandline -opc)
    haichi $words[2] --help 2>/dev/null | string match -rag -- '--[a-z][a-z-]+' | sort -u
end
complete -c haichi -n "not __fish_use_subcommand; and string match -q -- '-*' (commandline -ct)" \
  -a "(__haichi_options)"
