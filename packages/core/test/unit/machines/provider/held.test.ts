import test from 'ava';
import { ProviderHarness } from '@mutirao/testkit';

test('the judgement of a claim is forgotten once no broker has demand for it, and not while a broker may not have reported yet', (t) => {
  const harness = new ProviderHarness({ holding: { kind: 'fixed', lead: 10_000 } });
  const said = (): number => harness.state.judgements.size;
  harness.perform([
    'start',
    'limits requests=4 width=4 walltime=100000',
    'listing',
    'connect b',
    'windows 7:20000-60000x2',
    'at 10000',
    'accepted q1',
    'attach q1.0',
    'attach q1.1',
  ]);
  harness.perform(['at 20000', 'demand b 0 inside=7:20000-60000x2/2']);
  harness.perform(['judged 7:20000-60000x2']);
  t.is(said(), 1);
  harness.perform(['disconnect b', 'connect b']);
  t.is(said(), 1);
  harness.perform(['demand b 0 inside=7:20000-60000x2/2']);
  t.is(said(), 1);
  harness.perform(['demand b 0']);
  t.is(said(), 0);
  harness.perform(['judged 7:20000-60000x2']);
  t.is(said(), 0, 'an answer that comes late is not kept');
});

/** What was told of reservation 7 last, in words. */
function lastReported(lines: string): string {
  return (
    lines
      .split('\n')
      .findLast((line) => line.startsWith('tell ahead of 7: '))
      ?.slice('tell ahead of 7: '.length) ?? ''
  );
}

test('a waiting request is expected when the queue has room for it, with the chance of others that have waited as long', (t) => {
  const harness = new ProviderHarness({ holding: { kind: 'fixed', lead: 1_000_000 } });
  harness.state.waits.push(...[100_000, 200_000, 900_000, 1_500_000].map((wait) => ({ width: 2, wait })));
  harness.perform(['start', 'limits requests=4 width=4 walltime=4000000', 'connect b']);
  const planned = harness.perform(['windows 7:2000000-2600000x2']);
  t.is(lastReported(planned), 'planned 0+0, to be asked for at 1000000, chance 75 %');
  harness.perform(['at 1000000']);
  harness.perform(['accepted q1']);
  const behind = harness.perform(['listing x=running@900000/4x1000000 q1=queued']);
  t.is(lastReported(behind), 'queued 0+2, expected at 1900000, chance 75 %');
  const later = harness.perform(['at 1250000', 'listing x=running@900000/4x1000000 q1=queued']);
  t.is(
    lastReported(later),
    'queued 0+2, expected at 1900000, chance 50 %',
    'those that had come by now say nothing any more',
  );
  const late = harness.perform(['listing x=running@900000/4x1500000 q1=queued']);
  t.is(lastReported(late), 'queued 0+2, expected at 2400000, chance 50 %');
  const other = (name: string, submittedAt: number) => ({
    managerRequestId: name,
    userId: 'rui',
    width: 4,
    walltime: 200_000,
    status: 'queued' as const,
    submittedAt,
    startsAt: 0,
    endedAt: 0,
    endReason: '',
    clientRequestId: '',
  });
  const { listing } = harness.state;
  if (listing === undefined) throw new Error('there is no listing');
  const requests = [...listing.requests, other('before', 1), other('after', 2)];
  harness.step([{ kind: 'QueueListed', listing: { ...listing, at: harness.now, requests }, readAt: harness.now }]);
  t.is(harness.state.expectedStarts.get(7), 2_600_000, 'who came before it goes first, and who came after it does not');
  const ranks = new Map([
    ['before', 3],
    ['after', 1],
  ]);
  const ranked = requests.map((request) => ({
    ...request,
    ...(request.status === 'queued' ? { rankedAt: ranks.get(request.managerRequestId) ?? 2 } : {}),
  }));
  harness.step([
    {
      kind: 'QueueListed',
      listing: {
        ...listing,
        at: harness.now,
        requests: [...ranked, { ...other('also', 3), rankedAt: 1 }],
        ranking: { weight: 1440, leadMax: 1e9, score: 60 },
      },
      readAt: harness.now,
    },
  ]);
  t.is(harness.state.expectedStarts.get(7), 2_800_000, 'in a queue by scores, whoever ranks before it goes first');
});

test('an allocation that is given back early because its reservation ends early is reported as shortened, and a provider that drains gives back what it pre-acquired', (t) => {
  const harness = new ProviderHarness({ holding: { kind: 'fixed', lead: 10_000 } });
  harness.perform([
    'start',
    'limits requests=4 width=4 walltime=100000',
    'listing',
    'connect b',
    'windows 7:20000-60000x2',
    'at 10000',
  ]);
  harness.perform(['accepted q1', 'attach q1.0', 'attach q1.1']);
  t.is(
    lastReported(harness.perform(['windows 7:20000-50000x2'])),
    'held 2+0, The allocation will be released earlier than requested, when the reservation now ends.',
  );
  t.regex(
    harness.perform(['drain new power']),
    /release q1 [\s\S]*Nothing requested: provider p is draining \(new power\)\./,
    'nothing will be placed on what is held',
  );
});

test('by its forecast a provider asks as soon as the queue promises no start that is early enough, and not on the word of an old listing', (t) => {
  const harness = new ProviderHarness({ holding: { kind: 'forecast', margin: 10_000 } });
  harness.perform([
    'start',
    'limits requests=4 width=4 walltime=1000000',
    'connect b',
    'listing x=running@0/4x300000',
    'windows 7:400000-500000x4',
  ]);
  const asked = (lines: string): boolean => lines.includes('submit q');
  t.false(
    asked(harness.perform(['at 100000', 'listing x=running@0/4x300000'])),
    'there would be room at 300,000, which is early enough',
  );
  t.true(asked(harness.perform(['listing x=running@0/4x390000'])), 'at 390,000 there is no time to lose');
  t.is(
    lastReported(harness.perform(['accepted q1', 'listing x=running@0/4x390000 q1=queued'])),
    'queued 0+4, expected at 390000',
  );
  const old = new ProviderHarness({ holding: { kind: 'forecast', margin: 10_000 } });
  old.perform([
    'start',
    'limits requests=4 width=4 walltime=1000000',
    'connect b',
    'listing x=running@0/4x300000',
    'windows 7:400000-500000x4',
  ]);
  t.false(asked(old.perform(['at 395000'])), 'the listing is of long ago');
  const without = new ProviderHarness({ holding: { kind: 'forecast', margin: 10_000 } });
  without.perform(['start', 'limits requests=4 width=4 walltime=1000000', 'connect b', 'windows 7:400000-500000x4']);
  t.false(asked(without.perform(['at 399999'])));
  t.true(asked(without.perform(['at 400000'])), 'at the start it is asked for in any case');
});

test('a request slot that is freed for a reservation between two listings is not taken by other demand', (t) => {
  const harness = new ProviderHarness({ holding: { kind: 'forecast', margin: 10_000 } });
  const other = 'x=running@0/4x390000';
  harness.perform([
    'start',
    'limits requests=1 width=4 walltime=1000000',
    'connect b',
    'listing x=running@0/4x300000',
    'windows 7:400000-500000x4',
    'demand b 20',
  ]);
  t.regex(harness.perform(['accepted q1', 'at 100000', `listing ${other} q1=queued`]), /release q1 /);
  const freed = harness.perform(['released q1']);
  t.regex(freed, /submit q2 /);
  t.is(harness.state.requests.get('q2')?.heldFor?.reservationId, 7);

  harness.perform(['accepted q2', 'windows', `listing ${other} q2=queued`]);
  t.is(harness.state.dueWindows.size, 0, 'a reservation that is gone is no longer due');
});

test('the work of a broker goes back if the reservation turns out to begin later, and is requested again', (t) => {
  const harness = new ProviderHarness({ holding: { kind: 'fixed', lead: 10_000 } });
  harness.perform([
    'start',
    'limits requests=4 width=4 walltime=100000',
    'listing',
    'connect b',
    'windows 7:20000-60000x1',
    'at 10000',
  ]);
  harness.perform(['accepted q1', 'attach q1.0', 'demand b 0 inside=7:20000-60000x1/1']);
  t.regex(harness.perform(['judged 7:20000-60000x1', 'at 20000']), /tell b joined p\/q1\.0/);
  const moved = harness.perform(['windows 7:25000-60000x1']);
  t.regex(moved, /tell b lost p\/q1\.0 MUT_ALLOCATION_ENDED/);
  t.regex(moved, /submit q2 as i\.q2 width=1 walltime=40000/);
});

test('of what is held beyond a smaller reservation that goes back first which still waits', (t) => {
  const harness = new ProviderHarness({ holding: { kind: 'fixed', lead: 10_000 } });
  harness.perform([
    'start',
    'limits requests=4 width=1 walltime=100000',
    'listing',
    'connect b',
    'windows 7:20000-60000x2',
    'at 10000',
  ]);
  harness.perform(['accepted q1', 'accepted q2', 'attach q2.0']);
  const smaller = harness.perform(['windows 7:20000-60000x1']);
  t.regex(smaller, /release q1 /);
  t.notRegex(smaller, /release q2 /);
});
