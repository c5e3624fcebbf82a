/** fish shows what stands behind a tab as the description, and quotes by itself. */
export const FISH = String.raw`# nexus completion for fish. Put into ~/.config/fish/config.fish:  nexus completion fish | source
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
