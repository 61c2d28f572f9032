# Completion of sakerd for bash. A program's completions that its parser makes are made by scripts/install; sakerd carries
# no such parser.
_sakerd() {
    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}"
    if [ "$previous" = --config ]; then
        local IFS=$'\n'
        compopt -o filenames 2>/dev/null
        COMPREPLY=($(compgen -f -- "$current"))
    else
        COMPREPLY=($(compgen -W "--config --check --print-config --version --help" -- "$current"))
    fi
}
complete -F _sakerd sakerd
