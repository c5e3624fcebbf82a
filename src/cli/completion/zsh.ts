/** zsh quotes what is offered by itself. */
export const ZSH = String.raw`#compdef nexus
# nexus completion for zsh. Put into ~/.zshrc, after compinit:  source <(nexus completion zsh)
_nexus() {
  local line value description
  local -a before lines values shown open openshown
  (( CURRENT > 2 )) && before=("\${(@Q)words[2,CURRENT-1]}")
  lines=("\${(@f)$("\${(Q)words[1]}" complete-words -- "\${before[@]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  for line in "\${lines[@]}"; do
    [[ -n $line ]] || continue
    value="\${line%%$'\t'*}"
    description="\${line#*$'\t'}"
    [[ $description == $line ]] && description=""
    case $value in
      :files) compset -P '*='; _files; return ;;
      :folders) compset -P '*='; _files -/; return ;;
    esac
    [[ -n $description ]] && description="$value  -- $description" || description="$value"
    if [[ $value == *[.=] || $value == *__ ]]; then
      open+=("$value")
      openshown+=("$description")
    else
      values+=("$value")
      shown+=("$description")
    fi
  done
  (( \${#values} )) && compadd -l -d shown -a values
  (( \${#open} )) && compadd -l -S '' -d openshown -a open
}
if [[ $funcstack[1] == _nexus ]]; then
  _nexus "$@"
else
  compdef _nexus nexus
fi
`.replaceAll("\\${", "${");
