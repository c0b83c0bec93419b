import { readFileSync, writeFileSync } from 'node:fs';

/** What the runner needs of a test's `t`. */
export interface Comparison {
  is(actual: string, expected: string, message?: string): boolean;
}

/** Performs one stanza: its command lines (a batch), and answers the lines that follow from it; '' for none. */
export type Perform = (commands: readonly string[]) => string;

const rule = '----';

/**
 * Plays an interaction text and returns it with the output that `perform` really gave.
 *
 * Stanzas are separated by empty lines: command lines, a line `----`, expected output. A stanza without `----` expects
 * no
 * output. Lines that begin with `#` are comments, kept and not performed. Output never holds an empty line.
 */
export function playInteractions(text: string, perform: Perform): string {
  const stanzas = text
    .trim()
    .split(/\n{2,}/)
    .map((stanza) => playStanza(stanza, perform));
  return `${stanzas.join('\n\n')}\n`;
}

/**
 * Checks an interaction file against what `perform` does. With `BLESS=1` in the environment the file is rewritten
 * instead.
 *
 * @param file a URL, so that tests name it relative to `import.meta.url`.
 */
export function checkInteractions(t: Comparison, file: URL, perform: Perform): void {
  const expected = readFileSync(file, 'utf8');
  const actual = playInteractions(expected, perform);
  if (process.env['BLESS'] === '1') writeFileSync(file, actual);
  t.is(
    actual,
    process.env['BLESS'] === '1' ? actual : expected,
    `${file.pathname.split('/').at(-1)} differs; BLESS=1 rewrites it`,
  );
}

function playStanza(stanza: string, perform: Perform): string {
  const lines = stanza.split('\n');
  const ruleAt = lines.indexOf(rule);
  const head = ruleAt < 0 ? lines : lines.slice(0, ruleAt);
  const commands = head.filter((line) => !line.startsWith('#'));
  if (commands.length === 0) return head.join('\n');
  const output = perform(commands)
    .trim()
    .replaceAll(/\n{2,}/g, '\n');
  if (output === '' && ruleAt < 0) return head.join('\n');
  return [...head, rule, ...(output === '' ? [] : [output])].join('\n');
}
