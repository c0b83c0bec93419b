import test from 'ava';
import {
  commandFromWords,
  escapeTemplate,
  findCommandFault,
  hasPlaceholder,
  parseCommand,
  parseTemplate,
  quoteForShell,
  readField,
  renderCommand,
  renderPath,
  writeFields,
} from '@mutirao/core/bag';

function command(text: string, value: string, index = 7): string {
  return renderCommand(parseCommand(text), value, index);
}

function path(text: string, value: string, index = 7): string {
  return renderPath(parseTemplate(text), value, index);
}

test('the value and the index are put in wherever they stand', (t) => {
  t.is(command('render {} --seed={#} {}', '12'), 'render 12 --seed=7 12');
  t.is(path('out/tile-{}.{#}.bin', '12'), 'out/tile-12.7.bin');
});

test('a command gets the value as one shell word, a path as it is', (t) => {
  t.is(command('echo {}', "it's a b; rm -rf /"), `echo 'it'\\''s a b; rm -rf /'`);
  t.is(command('echo {}', ''), "echo ''");
  t.is(command('echo {}', '$(reboot)'), "echo '$(reboot)'");
  t.is(path('in/{}', 'a b'), 'in/a b');
});

test('a value is never read as a template', (t) => {
  t.is(path('{}-{#}', '{#}'), '{#}-7');
  t.is(command('{} {#}', '{}'), "'{}' 7");
});

test('other braces are text', (t) => {
  const line = `echo \${HOME} {a,b} { echo; } awk '{ print }' {# {} {#`;
  t.is(command(line, '1'), `echo \${HOME} {a,b} { echo; } awk '{ print }' {# 1 {#`);
});

test('one more pair of braces makes a literal one', (t) => {
  t.is(command('find . -exec wc {{}} + {} {{#}} {{{}}}', 'x'), 'find . -exec wc {} + x {#} {{}}');
});

test('unpaired braces around a placeholder stay', (t) => {
  t.is(path('${x:-{}}', '5'), '${x:-5}');
  t.is(path('{{}', '5'), '{5');
  t.is(path('{}}', '5'), '5}');
  t.is(path('{}{}', '5'), '55');
  t.is(path('{}{{}}{}', '5'), '5{}5');
});

test('an escaped text renders to itself', (t) => {
  for (const text of ['find {} {#}', '{{}}', '{{}', '{}}', '${x:-{}}', '{}{}', 'plain'])
    t.is(path(escapeTemplate(text), 'V'), text);
});

test('it is known whether tasks of a template differ', (t) => {
  t.true(hasPlaceholder(parseTemplate('a {}')));
  t.true(hasPlaceholder(parseTemplate('a {#}')));
  t.false(hasPlaceholder(parseTemplate('a {{}}')));
});

test('words after -- are quoted, their placeholders stay outside the quotes', (t) => {
  t.is(commandFromWords(['echo', 'a b', '', "it's {}", '{#}', 'x;y']), `echo 'a b' '' 'it'\\''s '{} {#} 'x;y'`);
  t.is(command(commandFromWords(['echo', "it's {}"]), 'c d'), `echo 'it'\\''s ''c d'`);
});

test('a literal placeholder in a word stays literal', (t) => {
  t.is(command(commandFromWords(['find', '.', '-exec', 'wc', '{{}}', ';']), 'x'), "find . -exec wc '{}' ';'");
});

test('plain words need no quotes', (t) => {
  t.is(quoteForShell('/usr/bin/node-20.x:a,b@c%d+e=f_G'), '/usr/bin/node-20.x:a,b@c%d+e=f_G');
  t.is(quoteForShell('*.txt'), "'*.txt'");
  t.is(quoteForShell('~'), "'~'");
});

test('braces without an end cost linear time', (t) => {
  t.is(path('{'.repeat(200_000), 'x').length, 200_000);
  t.is(path('{'.repeat(100_000) + '}'.repeat(100_000), 'x').length, 199_998);
  t.is(path('{{}'.repeat(50_000), 'x').length, 100_000);
});

test('fields of a value stand where their names are written', (t) => {
  const value = '{"a":"1","b b":"x y"}';
  t.is(path('out-{=a}-{=b b}-{#}.txt', value), 'out-1-x y-7.txt');
  t.is(path('{} {{=a}} {=c} {=}', value), `${value} {=a} {=c} {=}`);
  t.is(path(escapeTemplate('{=a}'), value), '{=a}');
  t.true(hasPlaceholder(parseTemplate('{=a}')));
});

test('a value without fields leaves their placeholders as text', (t) => {
  for (const value of ['5', '{"a":1}', '{"a"', '{"__proto__":"x"}', ''])
    t.is(path('{=a} {=toString}', value), '{=a} {=toString}');
});

test('fields are quoted in a command as the value is', (t) => {
  const value = JSON.stringify({ a: "it's", b: '$(reboot) `x`' });
  t.is(command('echo {=a} "{=b}" \'{=a}\'', value), `echo 'it'\\''s' "\\$(reboot) \\\`x\\\`" 'it'\\''s'`);
  t.is(commandFromWords(['echo', 'n {=a}']), "echo 'n '{=a}");
});

test('a field without a safe meaning in its position is refused by its name', (t) => {
  const template = parseCommand('echo $(( {=n} + 1 ))');
  t.is(findCommandFault(template, [writeFields([['n', '5']])]), undefined);
  t.deepEqual(findCommandFault(template, [writeFields([['n', 'x; rm']])]), {
    code: 'value-unsafe',
    value: 'x; rm',
    placeholder: '{n}',
    cause: { code: 'value-in-arithmetic' },
  });
});

test('fields are read back as they were written', (t) => {
  const fields = [
    ['a', '"quoted" \\ \u2028'],
    ['__proto__', 'x'],
  ] as const;
  const value = writeFields(fields);
  for (const [name, text] of fields) t.is(readField(value, name), text);
});
