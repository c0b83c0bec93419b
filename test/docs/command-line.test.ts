import test from 'ava';
import type { Command, Option } from 'commander';
import { Command as CommandClass } from 'commander';
import { agentProgram } from '../../packages/agent/src/program.ts';
import { brokerProgram } from '../../packages/broker/src/program.ts';
import { entries } from '../../packages/cli/src/commands/index.ts';
import { commandGroups } from '../../packages/cli/src/help/command-groups.ts';
import { examples } from '../../packages/cli/src/help/examples.ts';
import { describeCommand } from '../../packages/cli/src/program.ts';
import { main as cluster } from '../../packages/cluster/src/main.ts';
import { main as provider } from '../../packages/provider/src/main.ts';
import { main as reservations } from '../../packages/reservations/src/main.ts';
import { readConfig } from '../../packages/runtime/src/config/index.ts';
import { parseCommandLine, commonOptions } from '../../packages/runtime/src/program/command-line.ts';
import { generalHeading, helpFormat, type Example } from '../../packages/runtime/src/program/help-format.ts';
import type { OptionSpecs } from '../../packages/runtime/src/program/index.ts';
import { main as web } from '../../packages/web/src/main.ts';
import { comparePage, getTable } from './compare-page.ts';

const programs = [brokerProgram, provider, agentProgram, cluster, reservations, web].map(({ program }) => program);
const helper = Object.assign(new CommandClass().createHelp(), helpFormat);

/** Where the settings of a process are described, if not below its name. */
const anchors: Readonly<Record<string, string>> = {
  cluster: 'embedded-cluster',
  reservations: 'reservation-manager',
  web: 'web-page',
};

const showExamples = (shown: readonly Example[]): string =>
  `\`\`\`text\n${shown.map(({ command, effect }) => `# ${effect}\n${command}\n`).join('')}\`\`\`\n`;

/** Option texts are plain text; Markdown would take `<x>` for an element. */
const showPlain = (text: string): string => text.replaceAll('<', String.raw`\<`);

/** The options of a command below their headings; those that every command has are described once. */
function optionTables(command: Command): string {
  const groups = new Map<string, Option[]>();
  for (const option of command.options) {
    const heading = option.helpGroupHeading ?? 'Options:';
    groups.set(heading, [...(groups.get(heading) ?? []), option]);
  }
  groups.delete(generalHeading);
  return [...groups]
    .map(([heading, options]) =>
      getTable(
        [heading.replace(/:$/, '').toLowerCase(), 'effect'],
        options.map((option) => [`\`${option.flags}\``, showPlain(helper.optionDescription(option))]),
      ),
    )
    .join('\n');
}

function argumentTable(command: Command): string {
  if (command.registeredArguments.length === 0) return '';
  return `${getTable(
    ['argument', 'meaning'],
    command.registeredArguments.map((argument) => [
      `\`${helper.argumentTerm(argument)}\``,
      showPlain(helper.argumentDescription(argument)),
    ]),
  )}\n`;
}

async function describeEntry(entry: (typeof entries)[number]): Promise<string> {
  const name = entry.path.join(' ');
  const program = programs.find((one) => entry.path[0] === 'run' && one.name === entry.path[1]);
  if (program !== undefined)
    return (
      `#### ${name}\n\n${program.summary} [Configuration](configuration.md#${anchors[program.name] ?? program.name}) lists its options.\n\n` +
      showExamples(program.examples ?? [])
    );
  const command = await describeCommand(entry);
  const tables = [argumentTable(command).trimEnd(), optionTables(command).trimEnd()].filter((part) => part !== '');
  return [
    `#### ${name}\n`,
    `${entry.summary}\n`,
    ...tables.map((part) => `${part}\n`),
    showExamples(examples[name] ?? []),
  ].join('\n');
}

test('docs/reference/cli.md lists every command with its options and examples', async (t) => {
  const sections: string[] = [];
  for (const { heading, words } of commandGroups) {
    const commands = words.flatMap((word) => entries.filter(({ path }) => path[0] === word));
    sections.push(`### ${heading}\n`, ...(await Promise.all(commands.map(describeEntry))));
  }
  const { found, expected } = comparePage('reference/cli.md', { commands: sections.join('\n') });
  t.is(found, expected);
});

test('each process has two examples, which its options read, and every option of it has a group', (t) => {
  for (const { name, options, optionGroups = [], examples: shown = [], passesOn } of programs) {
    const specs: OptionSpecs = { ...commonOptions, ...(options as OptionSpecs) };
    t.true(shown.length >= 2, name);
    for (const { command } of shown) {
      const words = command.split(' ');
      t.deepEqual(words.slice(0, 3), ['mutirao', 'run', name]);
      const line = parseCommandLine(
        { name, summary: '', ...(passesOn === undefined ? {} : { passesOn }) },
        specs,
        words.slice(3),
        {
          writeOut: () => undefined,
          writeError: (text) => t.log(text),
        },
      );
      t.is(line.kind, 'run', command);
      if (line.kind === 'run')
        t.truthy(readConfig(name, specs, { flags: line.flags, environment: {}, file: undefined }));
    }
    t.deepEqual(
      optionGroups.flatMap(({ names }) => names as readonly string[]).toSorted(),
      Object.keys(options).toSorted(),
    );
  }
});
