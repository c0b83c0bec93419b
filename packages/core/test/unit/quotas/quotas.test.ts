import { sayReason } from '@mutirao/api/reasons';
import test from 'ava';
import {
  allowedMachineQuota,
  allowedQuota,
  findMachineQuotaExcess,
  findQuotaExcess,
  parseQuotas,
  quotaKinds,
  quotaNames,
  RateBucket,
  type QuotaRules,
} from '@mutirao/core/quotas';

function parse(...rules: string[]): QuotaRules {
  const quotas = parseQuotas(rules, 'owner');
  if ('fault' in quotas) throw new Error(quotas.fault.code);
  return quotas;
}

test('the owner has no quotas, others the usual ones, and rules change those of all or of one', (t) => {
  const quotas = parse('jobs=5', 'maria:jobs=none', 'maria:tasks=2K', 'owner:streams=7', 'blob-bytes=1G');
  t.deepEqual(
    quotaNames.map((name) => allowedQuota(quotas, 'owner', name)),
    quotaNames.map((name) => (name === 'streams' ? 7 : Infinity)),
  );
  t.is(allowedQuota(quotas, 'joao', 'jobs'), 5);
  t.is(allowedQuota(quotas, 'joao', 'tasks'), quotaKinds.tasks.usual);
  t.is(allowedQuota(quotas, 'joao', 'blob-bytes'), 1024 ** 3);
  t.is(allowedQuota(quotas, 'maria', 'jobs'), Infinity);
  t.is(allowedQuota(quotas, 'maria', 'tasks'), 2000);
});

test('a refusal names the quota, the used, requested and allowed amounts, and what to do', (t) => {
  const quotas = parse('tasks=100');
  t.is(findQuotaExcess(quotas, 'maria', { name: 'tasks', used: 60, more: 40 }), undefined);
  const excess = findQuotaExcess(quotas, 'maria', { name: 'tasks', used: 60, more: 41 });
  t.deepEqual(excess?.fault, { code: 'user-quota-exceeded', quota: 'tasks', allowed: 100, used: 60, more: 41 });
  t.is(
    excess && sayReason(excess.fault),
    'your quota "tasks" (tasks of jobs that have not ended) is 100; you have 60 and ask for 41 more; wait until ' +
      'one of your jobs ends, or submit fewer tasks',
  );
});

test('a rule that cannot be read is refused with what was expected', (t) => {
  for (const [rule, fault] of [
    ['jobs', /expected KIND=AMOUNT/],
    ['job=3', /did you mean "jobs"/],
    ['jobs=-1', /expected an amount/],
    ['jobs=1e9', /expected an amount/],
    ['maria:=3', /expected KIND/],
    ['', /expected KIND/],
  ] as const) {
    const read = parseQuotas([rule], 'owner');
    t.regex('fault' in read ? sayReason(read.fault) : '', fault, rule);
  }
});

test('a rate lets a burst of its span pass, and then as many per second as it says', (t) => {
  const bucket = new RateBucket(10_000);
  const count = (now: number): number => {
    let taken = 0;
    while (taken < 1000 && bucket.take(5, now)) taken += 1;
    return taken;
  };
  t.is(count(0), 50);
  t.is(count(0), 0);
  t.is(count(1000), 5);
  t.is(count(3000), 10);
  t.is(count(1_000_000), 50);
  t.is(count(999_000), 0);
});

test('each machine has its own quotas, whosever it is, and so often as many as it has tasks', (t) => {
  const quotas = parse('machine-bytes=1G', 'machine-streams=none');
  t.is(allowedMachineQuota(quotas, 'machine-connections'), quotaKinds['machine-connections'].usual);
  t.is(allowedMachineQuota(quotas, 'machine-streams'), Infinity);
  t.is(
    findMachineQuotaExcess(quotas, { name: 'machine-bytes', used: 1024 ** 3, more: 2 * 1024 ** 3, times: 3 }),
    undefined,
  );
  const excess = findMachineQuotaExcess(quotas, {
    name: 'machine-bytes',
    used: 1024 ** 3,
    more: 2 * 1024 ** 3 + 1,
    times: 3,
  });
  t.regex(
    excess === undefined ? '' : sayReason(excess.fault),
    /^the quota "machine-bytes" .* is 3 times 1 GiB; 1 GiB are used, and 2 GiB more/,
  );
  const refused = parseQuotas(['maria:machine-streams=5'], 'owner');
  t.regex('fault' in refused ? sayReason(refused.fault) : '', /expected machine-streams=5/);
});
