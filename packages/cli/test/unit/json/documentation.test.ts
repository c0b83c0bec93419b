import { readFileSync, writeFileSync } from 'node:fs';
import test from 'ava';
import { entries, type CommandEntry } from '../../../src/commands/index.ts';
import { shapes, type Shape } from '../../../src/json/shapes.ts';

const page = new URL('../../../../../docs/reference/json.md', import.meta.url);

const head = `# JSON output

Every command of \`mutirao\` but \`parallel\` accepts \`--json\` and then prints the document that this page describes.

- A field name ends with its unit (\`walltime_ms\`). Times are Unix milliseconds.
- New releases may add fields. Read the fields that you know and ignore the others.
- Errors are printed on standard error, as text; the last line is the [error](#error) as JSON, except for mistakes in
  the command line and in files. The [exit status](cli.md#exit-status) says what kind of error it was.

This page is generated from the tables of the command-line program.

| command | prints |
|---|---|
`;

const forms = { one: 'one', array: 'an array of', stream: 'JSON Lines, one object per line:' } as const;

function commandRow(entry: CommandEntry): string {
  const { json } = entry;
  return json === undefined
    ? ''
    : `| \`${entry.path.join(' ')}\` | ${forms[json.form]} [${json.shape}](#${json.shape}) |\n`;
}

function shapeSection([name, shape]: [string, Shape]): string {
  const rows = Object.entries(shape).map(([field, [type, meaning]]) => `| \`${field}\` | ${type} | ${meaning} |\n`);
  return `\n## ${name}\n\n| field | type | meaning |\n|---|---|---|\n${rows.join('')}`;
}

test('docs/reference/json.md describes what the commands print', (t) => {
  const text =
    head +
    entries.map(commandRow).join('') +
    '\n`job submit --wait` and `addjob --wait` print the finished [job](#job) instead.\n' +
    '\n`task output --follow` prints JSON Lines, one [output_part](#output_part) per line.\n' +
    Object.entries(shapes as Readonly<Record<string, Shape>>)
      .map(shapeSection)
      .join('');
  if (process.env['BLESS'] === '1') writeFileSync(page, text);
  t.is(readFileSync(page, 'utf8'), text);
});

test('every command that answers has a JSON form', (t) => {
  const silent = entries.filter((entry) => entry.json === undefined).map((entry) => entry.path[0]);
  t.deepEqual(new Set(silent), new Set(['parallel', 'run', 'completion']));
});

test('types name only documents that are described', (t) => {
  const plain = new Set(['string', 'integer', 'number', 'boolean', 'object', 'null', 'array', 'of', 'or']);
  for (const shape of Object.values(shapes as Readonly<Record<string, Shape>>)) {
    for (const [type] of Object.values(shape)) {
      for (const word of type.split(' ')) t.true(plain.has(word) || word in shapes, word);
    }
  }
});
