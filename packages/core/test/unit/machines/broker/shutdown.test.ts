import test from 'ava';
import { BrokerDialogue } from '@mutirao/testkit';

/** Has the only task of a job end this way on one allocation after another; answers what the broker did at the last end. */
function endAgainAndAgain(count: number, { end, until }: { readonly end: string; readonly until: number }): string {
  const dialogue = new BrokerDialogue();
  dialogue.perform(['provider p']);
  dialogue.perform(['submit ann 1 failures=1 replicas=1']);
  let last = '';
  for (let round = 1; round <= count; round++) {
    const start = round * 1_000_000;
    dialogue.perform([`at ${start}`, `join p/${round}.0 request=${round} until=${start + until}`]);
    last = dialogue.perform([`at ${start + 900_000}`, `report p/${round}.0 1 ${end} ${round} ${start}..${start + 900_000}`]);
    dialogue.perform([`lose p/${round}.0`]);
  }
  return last;
}

test('a task whose machines are shut down more often than its losses may count is still ready', (t) => {
  t.regex(endAgainAndAgain(30, { end: 'stopped', until: 86_400_000 }), /^r30 of 1\.0 lost: ready \(MUT_AGENT_STOPPED\)$/m);
});

test('a task that is stopped each time just before the end of the walltime is given up after its losses are spent', (t) => {
  t.regex(endAgainAndAgain(20, { end: 'stopped', until: 930_000 }), /^r20 of 1\.0 lost: failed \(MUT_TASK_LOST_OFTEN\)$/m);
});
