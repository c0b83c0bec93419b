import test from 'ava';
import { runCommandLine } from '@mutirao/testkit';
import { entries, findEntry } from '../../../src/commands/index.ts';
import { commandGroups, nounSummaries } from '../../../src/help/command-groups.ts';
import { examples, firstExamples } from '../../../src/help/examples.ts';
import { describeCommand } from '../../../src/program.ts';

/** The words of a command line, with the quotes that a shell removes. */
function splitWords(line: string): string[] {
  return [...line.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replaceAll(/["']/g, ''));
}

/** Parses an example with the options of its command. @throws {CommanderError} */
async function parseExample(line: string): Promise<string> {
  const [program, ...words] = splitWords(line);
  const split = words.indexOf('--');
  const own = split < 0 ? words : words.slice(0, split);
  const entry = findEntry(own);
  if (program !== 'mutirao' || entry === undefined) throw new Error(`not a command: ${line}`);
  const command = await describeCommand(entry);
  await command.parseAsync(own.slice(entry.path.length), { from: 'user' });
  return entry.path.join(' ');
}

/** The processes of the grid have their examples with their options; test/docs checks these. */
const isOfCommand = ([first, second]: readonly string[]): boolean => first !== 'run' || second === 'site';

test('every command has two examples or more, each of its own', async (t) => {
  for (const { path } of entries.filter((entry) => isOfCommand(entry.path))) {
    const name = path.join(' ');
    const shown = examples[name] ?? [];
    t.true(shown.length >= 2, name);
    t.is(new Set(shown.map(({ command }) => command)).size, shown.length, name);
    for (const { command, effect } of shown) {
      t.is(await parseExample(command), name);
      t.true(effect.length > 3 && command.length <= 110, command);
    }
  }
  for (const name of Object.keys(examples)) t.truthy(findEntry(name.split(' ')), name);
});

test('the examples of the first help are commands with options that exist', async (t) => {
  for (const { command } of firstExamples) t.truthy(await parseExample(command));
});

test('an example with an option that does not exist is refused', async (t) => {
  await t.throwsAsync(parseExample('mutirao job list --newest'), { code: 'commander.unknownOption' });
  await t.throwsAsync(parseExample('mutirao job newest'), { message: /not a command/ });
});

test('every command is below exactly one heading of the first help, and every noun has a summary', (t) => {
  const words = commandGroups.flatMap((group) => group.words);
  t.is(new Set(words).size, words.length);
  t.deepEqual(words.toSorted(), [...new Set(entries.map(({ path }) => path[0]))].toSorted());
  const nouns = entries.filter(({ path }) => path[1] !== undefined).map(({ path }) => path[0]);
  t.deepEqual(Object.keys(nounSummaries).toSorted(), [...new Set(nouns)].toSorted());
});

test('help fits 80 columns when the width is unknown, but for usage and examples', async (t) => {
  for (const { path } of entries.filter((entry) => isOfCommand(entry.path))) {
    const { out, status } = await runCommandLine([...path, '--help']);
    t.is(status, 0);
    const lines = out.split('\n').filter((line) => !/^(?:Usage:| {2}mutirao | {7}mutirao )/.test(line));
    t.deepEqual(
      lines.filter((line) => line.length > 80),
      [],
      path.join(' '),
    );
    t.regex(out, /\nExamples:\n {2}# .*\n {2}mutirao .*\n/);
  }
});

test('the first help lists commands by task', async (t) => {
  const { out, status } = await runCommandLine(['--help']);
  t.is(status, 0);
  t.deepEqual(
    [...out.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading),
    [...commandGroups.map(({ heading }) => heading), 'General', 'Examples'],
  );
});

test('every option says what it does, starts with a small letter and has no full stop', async (t) => {
  for (const entry of entries) {
    for (const { flags, description } of (await describeCommand(entry)).options) {
      t.regex(description, /^[^A-Z.](?!.*\.$)|^[A-Z]{2}/, `${entry.path.join(' ')} ${flags}`);
    }
  }
});

test('"mutirao help job submit" is "mutirao job submit --help"', async (t) => {
  const { out } = await runCommandLine(['help', 'job', 'submit']);
  t.is(out, (await runCommandLine(['job', 'submit', '--help'])).out);
});
