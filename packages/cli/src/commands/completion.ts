import type { Command } from 'commander';

import { MutiraoError } from '@mutirao/api/errors';

import type { Act, CommandContext } from '../context.ts';
import type { ExitStatus } from '../exit-status.ts';

export function define(command: Command, act: Act): void {
  command
    .argument('<shell>', 'bash, zsh or fish')
    .action((shell: string) =>
      act((context) => Promise.resolve(printCompletion(context, shell, listWords(command.parent)))),
    );
}

/** A word, what it means, and the words that may follow it. */
interface Word {
  readonly name: string;
  readonly summary: string;
  readonly next: readonly Word[];
}

/** The words of the commands, as the parser knows them. */
function listWords(command: Command | null): Word[] {
  return (command?.commands ?? []).map((inner) => ({
    name: inner.name(),
    summary: inner.description(),
    next: listWords(inner),
  }));
}

/** Prints a script that completes the words of commands. */
function printCompletion(context: CommandContext, shell: string, words: readonly Word[]): ExitStatus {
  const script = scripts[shell];
  if (script === undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `"${shell}" is not a supported shell; expected one of ${Object.keys(scripts).join(', ')}`,
    );
  context.output.write(script(words));
  return 0;
}

const namesOf = (words: readonly Word[]): string => words.map(({ name }) => name).join(' ');

function bashScript(words: readonly Word[]): string {
  const nouns = words.filter(({ next }) => next.length > 0);
  return `_mutirao() {
  local words=""
  case "$COMP_CWORD" in
    1) words="${namesOf(words)}" ;;
    2) case "\${COMP_WORDS[1]}" in
${nouns.map(({ name, next }) => `      ${name}) words="${namesOf(next)}" ;;`).join('\n')}
    esac ;;
  esac
  if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  else COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")); fi
}
complete -F _mutirao mutirao
`;
}

function fishScript(words: readonly Word[]): string {
  const line = (condition: string, { name, summary }: Word): string =>
    `complete -c mutirao -n '${condition}' -a ${name} -d '${summary.replaceAll("'", "\\'")}'\n`;
  return words
    .map(
      (word) =>
        line('__fish_use_subcommand', word) +
        word.next.map((next) => line(`__fish_seen_subcommand_from ${word.name}`, next)).join(''),
    )
    .join('');
}

const scripts: Readonly<Record<string, (words: readonly Word[]) => string>> = {
  bash: bashScript,
  zsh: (words) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(words)}`,
  fish: fishScript,
};
