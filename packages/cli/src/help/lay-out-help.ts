import { Option, type Command } from 'commander';

import {
  formatExamples,
  generalHeading,
  helpFormat,
  findHelpWidth,
  wrapParagraphs,
  type Example,
} from '@mutirao/runtime/help';

import { commandGroups } from './command-groups.ts';

/** The heading of a noun in `mutirao --help`. */
export function findHeading(word: string): string {
  return `${commandGroups.find(({ words }) => words.includes(word))?.heading ?? 'Other commands'}:`;
}

/** Where a noun stands in `mutirao --help`. */
export function findPosition(word: string): number {
  return commandGroups.flatMap(({ words }) => words).indexOf(word);
}

/** Lays out the help of a command like that of all others. Commands below it inherit the layout. */
export function layOutHelp(command: Command): Command {
  return command.configureHelp(helpFormat).addHelpOption(helpOption());
}

/** The `--help` of a command, among its general options. */
export function helpOption(): Option {
  return new Option('-h, --help', 'print this help').helpGroup(generalHeading);
}

/** Adds a text below the options, and the examples. */
export function addAfterHelp(command: Command, examples: readonly Example[], text = ''): void {
  command.addHelpText('after', () =>
    [text === '' ? '' : `\n${wrapParagraphs(text, findHelpWidth() - 1)}`, formatExamples(examples)]
      .filter((part) => part !== '')
      .join('\n'),
  );
}
