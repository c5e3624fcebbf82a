import type { Shell } from "./completion.ts";

/**
 * For bash 3.2 (macOS) and later. Suggestions are never evaluated: no `compgen -W`, which would expand names from
 * servers. Bash splits words at ":" and "=", so the script joins them again and cuts the suggestions.
 */
const BASH = String.raw`# nexus completion for bash. Put into ~/.bashrc:  source <(nexus completion bash)
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

/** zsh quotes suggestions itself. */
const ZSH = String.raw`#compdef nexus
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

/** fish shows the text after a tab as the description, and quotes itself. */
const FISH = String.raw`# nexus completion for fish. Put into ~/.config/fish/config.fish:  nexus completion fish | source
function __nexus_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l current (commandline -ct)
    set -l lines ($program complete-words -- $words "$current" 2>/dev/null)
    switch "$lines[1]"
        case ':files'
            __fish_complete_path (string replace -r '^--[^=]*=' '' -- "$current")
        case ':folders'
            __fish_complete_directories (string replace -r '^--[^=]*=' '' -- "$current")
        case '*'
            string join \n -- $lines
    end
end
complete -c nexus -f -a '(__nexus_complete)'
`;

/** PowerShell drops empty arguments, so --next says that the cursor is after a space; and it consumes a bare "--". */
const POWERSHELL = String.raw`# nexus completion for PowerShell. Put into $PROFILE:  nexus completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName nexus -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $program = $commandAst.CommandElements[0].Extent.Text
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text } })
    if ($wordToComplete) {
        $lines = & $program complete-words '--' @words $wordToComplete 2>$null
    } else {
        $lines = & $program complete-words --next '--' @words 2>$null
    }
    foreach ($line in $lines) {
        $value, $description = $line -split "\t", 2
        # Nothing offered: PowerShell offers files by itself.
        if ($value -eq ':files' -or $value -eq ':folders') { return }
        if (-not $description) { $description = $value }
        $text = if ($value -match '^[\w.:/=-]+$') { $value } else { "'" + $value.Replace("'", "''") + "'" }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $description)
    }
}
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL };
