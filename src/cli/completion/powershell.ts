/** PowerShell drops empty arguments, so that the cursor stands after a space is said with --next; and a bare "--" is its own. */
export const POWERSHELL = String.raw`# nexus completion for PowerShell. Put into $PROFILE:  nexus completion powershell | Out-String | Invoke-Expression
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
