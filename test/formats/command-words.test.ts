import { execFileSync } from 'node:child_process';
import test from 'ava';
import { commandFromWords, parseCommand, renderCommand } from '@mutirao/core/bag';

test.serial('/bin/sh runs a template with hostile words and values as they were meant', (t) => {
  const words = [
    'printf',
    '[%s]',
    'a b',
    "it's {}",
    '',
    '$HOME',
    '`id`',
    '{{}}',
    '"',
    '\\',
    '*',
    'line\nbreak',
    '{#}',
    '~',
  ];
  const value = `x'; echo "$(id)" \\ {}`;
  const line = renderCommand(parseCommand(commandFromWords(words)), value, 4);
  const output = execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8' });
  const expected = ['a b', `it's ${value}`, '', '$HOME', '`id`', '{}', '"', '\\', '*', 'line\nbreak', '4', '~'];
  t.is(output, expected.map((word) => `[${word}]`).join(''));
});
