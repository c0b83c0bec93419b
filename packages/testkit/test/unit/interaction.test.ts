import test from 'ava';
import { playInteractions } from '@mutirao/testkit';

/** Adds numbers: `add 2` answers the sum so far, `quiet` answers nothing. */
function adder(): (commands: readonly string[]) => string {
  let sum = 0;
  return (commands) => {
    for (const command of commands) if (command.startsWith('add ')) sum += Number(command.slice(4));
    return commands.includes('quiet') ? '' : `sum ${sum}`;
  };
}

test('a text whose output is right comes back as it was', (t) => {
  const text = '# Adds.\nadd 1\nadd 2\n----\nsum 3\n\nquiet\n\nquiet\n----\n\nadd 4\n----\nsum 7\n';
  t.is(playInteractions(text, adder()), text);
});

test('wrong, missing and superfluous output is replaced by the real one', (t) => {
  const text = 'add 1\n----\nsum 5\n\nadd 1\n\nquiet\n----\nsum 2\n';
  t.is(playInteractions(text, adder()), 'add 1\n----\nsum 1\n\nadd 1\n----\nsum 2\n\nquiet\n----\n');
});

test('a stanza of comments alone is kept and not performed', (t) => {
  t.is(playInteractions('# Only words.\n\nadd 1\n----\nsum 1\n', adder()), '# Only words.\n\nadd 1\n----\nsum 1\n');
});
