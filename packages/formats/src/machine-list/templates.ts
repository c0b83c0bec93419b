import type { JdfReader } from '../jdf/reader.ts';
import { showFound } from '../format-error.ts';
import type { MachineTemplates } from './machine-list.ts';
import type { Block, Entry } from './parse-blocks.ts';

const parts = [
  { key: 'remexec', shown: 'remExec', variables: ['command'] },
  { key: 'copyto', shown: 'copyTo', variables: ['localfile', 'remotefile'] },
  { key: 'copyfrom', shown: 'copyFrom', variables: ['remotefile', 'localfile'] },
] as const;

/**
 * The templates of a machine; undefined where it has none.
 *
 * @throws {FormatError} MUT_MACHINES_SYNTAX where one of the three is missing, or one lacks a variable without which it
 * does nothing.
 */
export function takeTemplates(
  reader: JdfReader,
  item: Block,
  entries: ReadonlyMap<string, Entry>,
): MachineTemplates | undefined {
  const found = parts.map(({ key }) => entries.get(key));
  if (found.every((entry) => entry === undefined)) return undefined;
  const [remExec = '', copyTo = '', copyFrom = ''] = parts.map(({ shown, variables }, index) => {
    const entry = found[index];
    if (entry === undefined)
      throw reader.error(
        { found: `a machine without "${shown}:"`, expected: '"remExec:", "copyTo:" and "copyFrom:", or none of them' },
        item.offset,
      );
    for (const variable of variables) {
      if (!names(entry.value, variable))
        throw reader.error(
          { found: showFound(entry.value), expected: `a command line with $${variable}` },
          entry.valueOffset,
        );
    }
    return entry.value;
  });
  return { remExec, copyTo, copyFrom };
}

function names(template: string, variable: string): boolean {
  return new RegExp(`\\$(?:${variable}(?!\\w)|\\{${variable}[}:#%/+?=-])`).test(template);
}
