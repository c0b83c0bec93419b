import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import test from 'ava';
import fc from 'fast-check';
import { sayCause } from '@mutirao/api/reasons';
import { commandFromWords, fillNamed, findCommandFault, parseCommand, renderCommand } from '@mutirao/core/bag';
import { runs } from '@mutirao/testkit';

/** Prints its arguments, each with a NUL behind it. */
const program = `#!/bin/sh\nfor word in "$@"; do printf '%s\\000' "$word"; done\n`;
/** Leaves a trace if it is ever run. */
const trap = '#!/bin/sh\n: >"$CANARY"\n';

const folder = mkdtempSync(join(tmpdir(), 'mutirao-quoting-'));
test.after.always(() => {
  rmSync(folder, { recursive: true, force: true });
});
for (const [name, text] of [
  ['show', program],
  ['RUN', trap],
  ['x', trap],
] as const) {
  writeFileSync(join(folder, name), text);
  chmodSync(join(folder, name), 0o755);
}

/** Values that mean something to a shell, or to what surrounds them. */
const hostile = [
  '',
  ' ',
  'plain',
  '12',
  '-',
  '--help',
  '-n',
  '*',
  '?',
  '[a-z]',
  '~',
  '~root',
  '#',
  '# x',
  '!',
  '!!',
  '{}',
  '{#}',
  '{a,b}',
  'a,b',
  '{1..3}',
  '$',
  '$$',
  '$HOME',
  '${HOME}',
  '$(RUN)',
  '$((1+1))',
  '`RUN`',
  ';RUN',
  '| RUN',
  '&& RUN',
  '& RUN',
  "'",
  '"',
  "''",
  '""',
  `'"'"'`,
  "'; RUN; '",
  '"; RUN; "',
  "'$(RUN)'",
  '"$(RUN)"',
  '\\',
  '\\\\',
  '\\n',
  "\\'",
  '\\"',
  '\\$(RUN)',
  'a\\',
  'a b',
  'a  b',
  'a\tb',
  '\tx',
  'a\nb',
  '\n',
  '\nRUN\n',
  'EOF',
  'EOF\nRUN',
  'a\nEOF\nRUN',
  'OF',
  'E',
  ')',
  '(',
  '))',
  'esac',
  ')RUN',
  ') RUN #',
  ';;',
  '}',
  '{ RUN; }',
  '};RUN',
  'if',
  'then',
  'case',
  'x=1',
  'PATH=/',
  '<',
  '>',
  '>x',
  '2>x',
  '<<EOF',
  '\r',
  'a\r',
  'ç',
  '日本語',
  '😀',
  'e\u0301',
  '\u00a0',
  '\u2028',
  '%s',
  '%n',
  '\u0001',
  '\u001b[31m',
  '\u007f',
];
const anyValue = fc
  .oneof(
    fc.constantFrom(...hostile),
    fc.array(fc.constantFrom(...hostile), { maxLength: 4 }).map((parts) => parts.join('')),
    fc.string({ unit: 'grapheme' }),
  )
  .filter((value) => !value.includes('\0'));

interface Said {
  readonly words: string[];
  readonly error: string;
  readonly hasRun: boolean;
}

/** What `show` got when a shell ran this line, and whether something of a value ran. */
function shellSays(line: string, shell = '/bin/sh'): Said {
  const canary = join(folder, 'canary');
  const { stdout, stderr } = spawnSync(shell, ['-c', line], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: `${folder}:/usr/bin:/bin`, CANARY: canary, HOME: '/home-of-nobody', V: 'v' },
  });
  const hasRun = existsSync(canary);
  rmSync(canary, { force: true });
  return { words: stdout.split('\0').slice(0, -1), error: stderr, hasRun };
}

/** Styles of a placeholder, each with the words that a program gets for a value. */
const styles: readonly (readonly [template: string, words: (value: string) => readonly string[]])[] = [
  ['show {}', (value) => [value]],
  ['show "{}"', (value) => [value]],
  [`show '{}'`, (value) => [value]],
  ['show \\{}', () => ['{}']],
  ['show "\\{}"', (value) => [`\\${value}`]],
  [`show '\\{}'`, (value) => [`\\${value}`]],
  ['show x{}y', (value) => [`x${value}y`]],
  ['show {}{}', (value) => [value + value]],
  ['show "{}{}" {}', (value) => [value + value, value]],
  [`show "a b"{}'c d'`, (value) => [`a b${value}c d`]],
  ['show --opt={}', (value) => [`--opt=${value}`]],
  ['show --opt="{}" -- {}', (value) => [`--opt=${value}`, '--', value]],
  ['show $V{}', (value) => [`v${value}`]],
  ['show "$V{}"', (value) => [`v${value}`]],
  ['show "${V}{}"', (value) => [`v${value}`]],
  ['show ${}', (value) => [`$${value}`]],
  ['show "${}"', (value) => [`$${value}`]],
  ['show {}# "#{}"', (value) => [`${value}#`, `#${value}`]],
  ['show a # {}', () => ['a']],
  ['show a #{}\nshow b', () => ['a', 'b']],
  ['X={}; show "$X"', (value) => [value]],
  ['X="{}" && show "$X"', (value) => [value]],
  ['X={} Y=1 sh -c \'show "$X"\'', (value) => [value]],
  ['for x in {} end; do show "$x"; done', (value) => [value, 'end']],
  ['case {} in "{}") show same {};; *) show other;; esac', (value) => ['same', value]],
  ['if true; then show {}; fi', (value) => [value]],
  ['{ show {}; }; (show "{}")', (value) => [value, value]],
  ['f() { show "$1"; }; f {}', (value) => [value]],
  ['true && show {} || show no', (value) => [value]],
  ['show {}>out; cat out', (value) => [value]],
  ['show {} 2>/dev/null | cat', (value) => [value]],
  ['show {} >out 2>&1; cat out', (value) => [value]],
  ['show "{{}}" {}', (value) => ['{}', value]],
  ['sh -c "show {}"', (value) => [value]],
  [`sh -c 'show {}'`, (value) => [value]],
  [`sh -c 'show "{}" x{}'`, (value) => [value, `x${value}`]],
  [`sh -c "show '{}'"`, (value) => [value]],
  [`env A=1 sh -euc 'show {}'`, (value) => [value]],
  [`sh -c 'sh -c "show {}"'`, (value) => [value]],
  [`sh 2>/dev/null -c 'show {}'`, (value) => [value]],
  [`sh -c 'show "$1"' sh {}`, (value) => [value]],
  [`eval 'show {}'`, (value) => [value]],
  [`A="1" eval 'show "{}"'`, (value) => [value]],
  [`trap 'show {}' EXIT`, (value) => [value]],
  [`printf '%s' {} | sh -c 'show "$(cat; echo .)"'`, (value) => [`${value}.`]],
];

/** Styles whose words go through `$(...)`, which takes line ends away. */
const substituted: typeof styles = [
  ['show "$(printf %s. {})"', (value) => [`${value}.`]],
  ['show "$(printf %s. "{}")"', (value) => [`${value}.`]],
  [`show "$(printf %s. '{}')"`, (value) => [`${value}.`]],
  ['show "`printf %s. {}`"', (value) => [`${value}.`]],
  ['show "`printf %s. "{}"`"', (value) => [`${value}.`]],
  ['show "`printf %s. \\"{}\\"`"', (value) => [`${value}.`]],
  [`X=\`printf %s. '{}'\`; show "$X"`, (value) => [`${value}.`]],
  ['show "$(printf %s. "$(printf %s, "{}")")"', (value) => [`${value},.`]],
  ['show "$(case x in (x) printf %s. {};; esac)" {}', (value) => [`${value}.`, value]],
  ['show "$(case x in x) printf %s. {};; esac)" "{}"', (value) => [`${value}.`, value]],
  ['show "$( (printf %s. {}) )"', (value) => [`${value}.`]],
  ['show "$(printf %s. {} # ) {}\n)"', (value) => [`${value}.`]],
  ['show "$(cat <<EOF; echo .\n{}\nEOF\n)"', (value) => [`${value}\n.`]],
  ['show "$(cat <<EOF; echo .\na{}b $V{} \\{} \\$V\nEOF\n)"', (value) => [`a${value}b v${value} \\${value} $V\n.`]],
  ['show "$(cat <<-EOF; echo .\n\t{}\n\t{}{}\n\tEOF\n)"', (value) => [`${value}\n${value}${value}\n.`]],
  ['cat <<EOF >doc; show "$(cat doc; echo .)"\n$(printf %s, {})\nEOF\nshow {}', (value) => [`${value},\n.`, value]],
];

const shells = ['/bin/sh', '/bin/bash'];

test('a program gets the value as it is, in whichever quotes the placeholder stands', (t) => {
  fc.assert(
    fc.property(
      fc.constantFrom(...styles, ...substituted),
      anyValue,
      fc.constantFrom(...shells),
      ([template, words], value, shell) => {
        const line = renderCommand(parseCommand(template), value, 3);
        const said = shellSays(line, shell);
        t.false(said.hasRun, line);
        t.deepEqual(said.words, words(value), `${shell} ${line}\n${said.error}`);
      },
    ),
    runs(31, 60),
  );
});

test('hostile values come through every style', (t) => {
  for (const [at, [template, words]] of [...styles, ...substituted].entries()) {
    const parsed = parseCommand(template);
    const values = hostile.filter((_, index) => at < 3 || index % 8 === at % 8);
    const line = values.map((value) => `(${renderCommand(parsed, value, 3)}\n)`).join('\nrm -f out\n');
    const said = shellSays(line);
    t.false(said.hasRun, template);
    t.deepEqual(said.words, values.flatMap(words), `${template}\n${said.error}`);
  }
});

test('words after -- reach the program whole, with the value in each', (t) => {
  fc.assert(
    fc.property(fc.array(anyValue, { maxLength: 3 }), anyValue, (words, value) => {
      const given = [...words.map((word) => word.replaceAll(/[{}]/g, '')), '{}', '"{}"', `'{}'`, '\\{}', 'a {} b'];
      const said = shellSays(renderCommand(parseCommand(commandFromWords(['show', ...given])), value, 3));
      t.deepEqual(
        said.words,
        given.map((word) => word.replaceAll('{}', () => value)),
        said.error,
      );
    }),
    runs(32, 20),
  );
});

test('a value inside a script that is an argument is an argument of that script', (t) => {
  for (const script of ['show {}', 'show "{}"', `show '{}'`]) {
    const parsed = parseCommand(commandFromWords(['sh', '-c', script]));
    const said = shellSays(hostile.map((value) => renderCommand(parsed, value, 3)).join('\n'));
    t.deepEqual([said.words, said.hasRun], [[...hostile], false], script);
  }
});

test('a placeholder that is the whole script is code', (t) => {
  for (const template of ['sh -c {}', 'eval {}', `sh -c '{}'`])
    t.deepEqual(shellSays(renderCommand(parseCommand(template), `show "a b" 'c'`, 3)).words, ['a b', 'c'], template);
});

test('where only some values have a meaning, the others are refused and never run', (t) => {
  // No host is reached: the line that is run is a refusal, or ends at a name that nobody has.
  const places = [
    'show $(({}))',
    'show $((1 + {}))',
    '(({}))',
    'show $[{}]',
    'show ${V:-{}}',
    'show "${V:-{}}"',
    'show "${V#{}}"',
    "cat <<'EOF'\n{}\nEOF",
    "cat <<-'EOF'\n{}\nEOF",
    'sh -c "show $V {}"',
    "$SHELL -c 'show {}'",
    'eval show {}',
    'ssh host show {}',
    'timeout 1 ssh host "show {}"',
  ];
  for (const template of places) {
    const parsed = parseCommand(template);
    const lines = hostile.map((value) => renderCommand(parsed, value, 3));
    const refused = hostile.filter((value) => findCommandFault(parsed, [value]) !== undefined);
    t.deepEqual(
      hostile.filter((_, index) => lines[index]?.includes('mutirao: refused')),
      refused,
      template,
    );
    t.false(shellSays(lines.map((line) => `(${line}\n)`).join('\n')).hasRun, template);
    t.not(findCommandFault(parsed, ['$(RUN)\nEOF\n']), undefined, template);
    t.is(findCommandFault(parsed, ['12']), undefined, template);
  }
  t.deepEqual(shellSays(renderCommand(parseCommand('show $((3-{})) $((2*{}))'), '-1', 3)).words, ['4', '-2']);
  t.is(
    spawnSync('/bin/sh', ['-c', renderCommand(parseCommand("cat <<'EOF'\na {} $V\nEOF"), '$(RUN) `x` "', 3)], {
      encoding: 'utf8',
    }).stdout,
    'a $(RUN) `x` " $V\n',
  );
});

test('a command whose quotes are ambiguous is refused with the reason', (t) => {
  for (const [template, reason] of [
    [`show '{}`, "a ' that is not closed"],
    ['show "{}', 'a " that is not closed'],
    ['show $({}', 'a $( that is not closed'],
    ['show `{}', 'a ` that is not closed'],
    [`show $'{}'`, "inside $'...'"],
    ['cat <<{}\nx\n{}', 'here-document'],
    ['show "${V:-\'{}\'}"', 'inside quotes'],
  ] as const) {
    t.regex(
      sayCause(findCommandFault(parseCommand(template), ['1']) ?? ''),
      new RegExp(reason.replaceAll(/[$(){}.*?[\\'"]/g, '\\$&')),
      template,
    );
  }
  t.is(findCommandFault(parseCommand("it's {{}}"), ['1']), undefined);
});

test('names of columns and of files are filled in by the same rules', (t) => {
  const columns = new Map<string, string | readonly string[]>([
    ['a', `$(RUN)'"`],
    ['files', ['x y', '$(RUN)', '']],
  ]);
  t.deepEqual(shellSays(fillNamed(`show {a} "{a}" '{a}' {files} "{files}" {b} \${V}`, columns)).words, [
    `$(RUN)'"`,
    `$(RUN)'"`,
    `$(RUN)'"`,
    'x y',
    '$(RUN)',
    '',
    'x y $(RUN) ',
    '{b}',
    'v',
  ]);
  t.throws(() => fillNamed('show $(({a}))', columns), { message: 'value-unsafe' });
});
