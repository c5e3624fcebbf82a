/**
 * For bash 3.2 (macOS) and later. Nothing that is offered is ever evaluated: no `compgen -W`, which would expand names that
 * come from servers. Bash takes words apart at ":" and "=", so they are put together again, and cut off what is offered.
 */
export const BASH = String.raw`# nexus completion for bash. Put into ~/.bashrc:  source <(nexus completion bash)
_nexus() {
  local IFS=$' \t\n' rest="\${COMP_LINE:0:COMP_POINT}" word lead i count=0
  local -a words
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    lead="\${rest%%[![:space:]]*}"
    rest="\${rest#"$lead"}"
    word="\${COMP_WORDS[i]}"
    if ((i == COMP_CWORD)); then word="$rest"; fi
    if ((i > 0)) && [[ -z $lead ]]; then
      words[count - 1]+="$word"
    else
      words[count]="$word"
      count=$((count + 1))
    fi
    rest="\${rest#"$word"}"
  done

  local current="\${words[count - 1]}" kept="" value description quoted character
  for character in : = @; do
    [[ $COMP_WORDBREAKS == *"$character"* ]] || continue
    word="\${current%"\${current##*"$character"}"}"
    if ((\${#word} > \${#kept})); then kept="$word"; fi
  done

  COMPREPLY=()
  while IFS=$'\t' read -r value description; do
    case "$value" in
      :files) compopt -o default 2>/dev/null || COMPREPLY=($(compgen -f -- "\${current#"$kept"}")) ;;
      :folders) compopt -o dirnames 2>/dev/null || COMPREPLY=($(compgen -d -- "\${current#"$kept"}")) ;;
      *)
        printf -v quoted %q "\${value#"$kept"}"
        COMPREPLY[\${#COMPREPLY[@]}]="$quoted"
        ;;
    esac
  done < <("$1" complete-words -- "\${words[@]:1}" 2>/dev/null)
  if ((\${#COMPREPLY[@]} == 1)) && [[ \${COMPREPLY[0]} == *[.=] || \${COMPREPLY[0]} == *__ ]]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -F _nexus nexus
`.replaceAll("\\${", "${");
