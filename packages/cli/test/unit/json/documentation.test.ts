import { readFileSync, writeFileSync } from 'node:fs';
import test from 'ava';
import { entries, type CommandEntry } from '../../../src/commands/index.ts';
import { shapes, type Shape } from '../../../src/json/shapes.ts';

const page = new URL('../../../../../docs/cli-json.md', import.meta.url);

const head = `# What \`--json\` prints

Every command of \`mutirao\` takes \`--json\`. Names say their unit last (\`walltime_ms\`); a time is Unix milliseconds. Fields are only ever
added: read those that you know and ignore the others. Errors go to standard error as text; the exit status tells what kind it is (docs/cli.md).

This page is written from the command line's own tables: a test compares, and \`BLESS=1\` on that test writes it again.

| command | prints |
|---|---|
`;

const forms = { one: 'one', array: 'an array of', stream: 'one per line, as they come:' } as const;

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

test('docs/cli-json.md says what the commands print', (t) => {
  const text =
    head +
    entries.map(commandRow).join('') +
    '\n`job submit --wait` and `addjob --wait` print the [job](#job) as it ended instead.\n' +
    Object.entries(shapes as Readonly<Record<string, Shape>>)
      .map(shapeSection)
      .join('');
  if (process.env['BLESS'] === '1') writeFileSync(page, text);
  t.is(readFileSync(page, 'utf8'), text);
});

test('every command that answers has a JSON form', (t) => {
  const silent = entries.filter((entry) => entry.json === undefined).map((entry) => entry.path[0]);
  t.deepEqual(new Set(silent), new Set(['run', 'completion']));
});

test('types name only documents that are described', (t) => {
  const plain = new Set(['string', 'integer', 'number', 'boolean', 'object', 'null', 'array', 'of', 'or']);
  for (const shape of Object.values(shapes as Readonly<Record<string, Shape>>)) {
    for (const [type] of Object.values(shape)) {
      for (const word of type.split(' ')) t.true(plain.has(word) || word in shapes, word);
    }
  }
});
