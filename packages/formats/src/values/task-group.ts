import { commandFromWords, parseTemplate } from '@mutirao/core/bag';
import type { InputSpec, OutputSpec, TaskGroup, Values } from '@mutirao/core/messages';
import { FormatError } from '../format-error.ts';
import { valueError } from './number.ts';
import { parseRanges } from './selector.ts';

/** Values that an array of several ranges may list; a single range has no such bound. */
export const listedValuesMax = 10_000_000;

/**
 * Reads `--array`: `1-1000`, `0-90:10`, `1,3,5-8`. One range stays three numbers, however long it is.
 *
 * @throws {FormatError} MUT_BAD_SELECTOR.
 */
export function parseArray(text: string): Values {
  const context = { code: 'MUT_BAD_SELECTOR', kind: 'array', text };
  const ranges = parseRanges(context);
  const [only] = ranges;
  if (ranges.length === 1 && only !== undefined) return { kind: 'range', ...only };
  const total = ranges.reduce((sum, range) => sum + range.count, 0);
  if (total > listedValuesMax) throw valueError(context, 0, `at most ${listedValuesMax} values, or a single range`);
  const values: string[] = [];
  for (const { first, count, step } of ranges) {
    for (let index = 0; index < count; index++) values.push(String(first + index * step));
  }
  return { kind: 'list', values };
}

/**
 * Reads `--each-line`: one value per line, as it stands there; empty lines are left out.
 *
 * @throws {FormatError} MUT_TEMPLATE_NO_VALUE when no line is left, MUT_BAD_REQUEST for a NUL, which no command can
 * take.
 */
export function parseLines(text: string, subject = 'list'): Values {
  const values = text
    .split('\n')
    .map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
    .filter((line) => line !== '');
  if (values.length === 0) {
    throw new FormatError({
      code: 'MUT_TEMPLATE_NO_VALUE',
      subject,
      line: 1,
      column: 1,
      found: 'no line',
      expected: 'one value per line',
    });
  }
  const nul = text.indexOf('\0');
  if (nul !== -1) {
    const before = text.slice(0, nul).split('\n');
    throw new FormatError({
      code: 'MUT_BAD_REQUEST',
      subject,
      line: before.length,
      column: (before.at(-1)?.length ?? 0) + 1,
      found: 'a NUL',
      expected: 'text',
    });
  }
  return { kind: 'list', values };
}

/** What a user says of tasks that share a command. */
export interface TaskGroupOptions {
  /** The words after `--`, quoted for the shell here; or a line for the shell as it is. */
  readonly command: readonly string[] | string;
  /** Undefined for a single task. */
  readonly values: Values | undefined;
  readonly inputs?: readonly InputSpec[];
  readonly outputs?: readonly OutputSpec[];
  readonly check?: string;
  readonly requirements?: string;
  readonly noOp?: boolean;
}

/**
 * Makes a task group of a command and its values.
 *
 * @throws {FormatError} MUT_TEMPLATE_NO_VALUE when something holds `{}` and there are no values, MUT_BAD_REQUEST for an
 * empty command.
 */
export function makeTaskGroup(options: TaskGroupOptions): TaskGroup {
  const command = typeof options.command === 'string' ? options.command : commandFromWords(options.command);
  const { values, ...stated } = { ...groupDefaults, ...options, command };
  if (command.trim() === '' && !stated.noOp) {
    throw new FormatError({
      code: 'MUT_BAD_REQUEST',
      subject: 'command',
      line: 0,
      column: 1,
      found: 'nothing',
      expected: 'a command',
    });
  }
  if (values === undefined) for (const text of listTemplates(stated)) refuseValue(text);
  return { ...stated, values: values ?? { kind: 'range', first: 0, count: 1, step: 1 } };
}

const groupDefaults = { inputs: [], outputs: [], check: '', requirements: '', noOp: false };

/** All the texts of a group in which `{}` means its value. */
function listTemplates({ command, check, inputs, outputs }: Omit<TaskGroup, 'values'>): string[] {
  const ofInputs = inputs.flatMap(({ source, path }) => (source.kind === 'path' ? [source.path, path] : [path]));
  return [command, check, ...ofInputs, ...outputs.flatMap(({ path, localPath }) => [path, localPath])];
}

function refuseValue(text: string): void {
  if (!parseTemplate(text).some((part) => part.kind === 'value')) return;
  throw new FormatError({
    code: 'MUT_TEMPLATE_NO_VALUE',
    subject: `template ${JSON.stringify(text)}`,
    line: 0,
    column: text.indexOf('{}') + 1,
    found: '{}',
    expected: 'values for it, or {{}} for a literal {}',
  });
}
