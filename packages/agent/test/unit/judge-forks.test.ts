// Proves whose fault it is that a shell of a task could not fork.
import test from 'ava';
import { judgeForks } from '../../src/judge-forks.ts';

const judge = (status: number, said: string, processes = 1): string | undefined =>
  judgeForks({ status, standardError: Buffer.from(said) }, processes)?.outcome;

test('a task with few processes whose shell cannot fork is lost, and does not fail', (t) => {
  t.is(judge(2, '/bin/sh: 1: Cannot fork\n'), 'broken');
  t.is(judge(2, 'a warning\nrun.sh: 12: Cannot fork'), 'broken');
  t.is(
    judge(
      254,
      'bash: fork: retry: Resource temporarily unavailable\nbash: fork: Resource temporarily unavailable\n',
      16,
    ),
    'broken',
  );
});

test('a task with many processes fails by itself', (t) => {
  t.is(judge(2, '/bin/sh: 1: Cannot fork\n', 17), undefined);
  t.is(judge(254, 'bash: fork: Cannot allocate memory\n', 200), undefined);
});

test('the words count only at the end, and with the status of the shell that says them', (t) => {
  for (const status of [1, 127, 254]) t.is(judge(status, '/bin/sh: 1: Cannot fork\n'), undefined, String(status));
  t.is(judge(2, '/bin/sh: 1: Cannot fork\nusage: run.sh FILE\n'), undefined);
  t.is(judge(2, ''), undefined);
  t.is(judge(254, 'git: fork: not found\nexit\n'), undefined);
});
