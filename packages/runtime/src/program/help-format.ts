import { stdout } from 'node:process';
import { Help, type Argument, type HelpConfiguration, type Option } from 'commander';

/** A command to copy, and what it does. */
export interface Example {
  readonly command: string;
  readonly effect: string;
}

/** Longer terms have their description on the next line, so that one long option does not narrow the column of all. */
const termWidthMax = 30;
const indent = 2;
/** The heading of the options that every command has. */
export const generalHeading = 'General:';
/** Columns when the width of the terminal is unknown. */
const usualWidth = 80;
/** The least that is wrapped to. */
const widthMin = 40;

/** The columns of the terminal that help is read on; `usualWidth` where that is not known. */
export function findHelpWidth(): number {
  return (stdout.columns as number | undefined) ?? usualWidth;
}

/** How help is laid out: wrapped to the terminal, with the default of each option in plain words. */
export const helpFormat: HelpConfiguration = {
  minWidthToWrap: 20,
  padWidth(command, helper) {
    const lengths = [
      ...helper.visibleOptions(command).map((option) => helper.optionTerm(option).length),
      ...helper.visibleArguments(command).map((argument) => helper.argumentTerm(argument).length),
      ...helper.visibleCommands(command).map((inner) => helper.subcommandTerm(inner).length),
    ];
    return Math.max(0, ...lengths.filter((length) => length <= termWidthMax));
  },
  formatItem(term: string, termWidth: number, description: string, helper: Help) {
    const start = ' '.repeat(indent);
    const column = termWidth + 2 * indent;
    const width = Math.max(widthMin, (helper.helpWidth ?? usualWidth) - 1);
    const lines = helper.boxWrap(description, width - column).split('\n');
    const below = ' '.repeat(column);
    if (term.length > termWidth) return [start + term, ...lines.map((line) => below + line)].join('\n');
    return start + term.padEnd(termWidth + indent) + lines.join(`\n${below}`);
  },
  formatHelp: (command, helper) => moveGeneralLast(Help.prototype.formatHelp.call(helper, command, helper)),
  argumentTerm: (argument: Argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  },
  optionDescription: (option: Option) =>
    `${withDefault(option.description, option.defaultValue)}${option.mandatory ? ' (required)' : ''}`,
  argumentDescription: (argument: Argument) => withDefault(argument.description, argument.defaultValue),
};

/** The options that every command has come last. */
function moveGeneralLast(help: string): string {
  const blocks = help.trimEnd().split('\n\n');
  const isGeneral = (block: string): boolean => block.startsWith(generalHeading);
  return `${[...blocks.filter((block) => !isGeneral(block)), ...blocks.filter(isGeneral)].join('\n\n')}\n`;
}

/** Adds a default that the description does not name already. */
function withDefault(description: string, value: unknown): string {
  const isShown = (typeof value === 'string' && value !== '') || typeof value === 'number';
  return isShown && !description.includes('(default') ? `${description} (default: ${value})` : description;
}

/** The examples as they stand at the end of a help text. */
export function formatExamples(examples: readonly Example[]): string {
  const lines = examples.flatMap(({ command, effect }) => [`  # ${effect}`, `  ${command}`]);
  return lines.length === 0 ? '' : ['', 'Examples:', ...lines].join('\n');
}

/** A text of paragraphs, each wrapped to a width. */
export function wrapParagraphs(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, Math.max(widthMin, width)))
    .join('\n');
}

/** A line that is indented goes on indented further. */
function wrapLine(line: string, width: number): string {
  const start = /^ */.exec(line)?.[0] ?? '';
  const lines: string[] = [];
  let current = start;
  for (const word of line.trim().split(' ')) {
    const isFirst = current.trim() === '';
    if (!isFirst && current.length + 1 + word.length > width) {
      lines.push(current);
      current = `${start === '' ? '' : `${start}  `}${word}`;
    } else current = isFirst ? current + word : `${current} ${word}`;
  }
  return [...lines, current].join('\n');
}
