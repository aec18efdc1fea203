// Completion scripts for shells, from the table of flags.
import { COMMANDS, FLAGS, flagsOf, VERBS, verbsOf } from "../config/flags.ts";

export function renderCompletion(shell: string | undefined): string {
  if (shell === "fish") return renderFish();
  return shell === "zsh" ? `autoload -U +X compinit bashcompinit && compinit && bashcompinit\n${BASH}` : BASH;
}

const CHOICES = FLAGS.filter(({ choices }) => choices !== undefined)
  .map(({ name, choices = [] }) => `    --${name}) words="${choices.join(" ")}" ;;`);

const WORDS = COMMANDS.map((command) =>
  `      ${command}) words="${[...verbsOf(command), ...flagsOf(command).map(({ name }) => `--${name}`)].join(" ")}" ;;`
);

/** Where no word fits, bash offers files. */
const BASH = `_archway() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${COMMANDS.join(" ")}"
  else
    case "$before" in
${CHOICES.join("\n")}
    *)
      case "\${COMP_WORDS[1]}" in
${WORDS.join("\n")}
      esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _archway archway
`;

function renderFish(): string {
  const isFirst = "-n __fish_use_subcommand";
  const isAfter = (commands: readonly string[]): string => `-n "__fish_seen_subcommand_from ${commands.join(" ")}"`;
  const flags = FLAGS.map(({ name, shape, commands, choices, help, short: letter }) => {
    const short = letter === undefined ? "" : ` -s ${letter}`;
    const value = choices !== undefined ? ` -xa "${choices.join(" ")}"` : shape === "switch" ? "" : " -rF";
    return `complete -c archway ${isAfter(commands)} -l ${name}${short}${value} -d '${help.replaceAll("'", "\\'")}'`;
  });
  return [
    "complete -c archway -f",
    ...COMMANDS.map((command) => `complete -c archway ${isFirst} -a ${command}`),
    ...Object.entries(VERBS).map(([command, verbs]) =>
      `complete -c archway ${isAfter([command])} -a "${verbs.join(" ")}"`
    ),
    ...flags,
    "",
  ].join("\n");
}
