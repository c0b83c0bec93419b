import test from 'ava';
import { parseQuotas, type QuotaRules } from '@mutirao/core/quotas';
import { CallerLoads } from '../../../src/rpc/admission/caller-loads.ts';
import type { Connection } from '../../../src/rpc/admission/connections.ts';

function aConnection(): Connection {
  return { callers: new Set<string>() } as unknown as Connection;
}

test('a machine attaches a limited number of times a minute, well or not, and machines that share a credential as often each', (t) => {
  const loads = new CallerLoads(parseQuotas(['machine-attaches-per-minute=6'], 'ana') as QuotaRules);
  const connection = aConnection();
  /** How many of `attempts` attempts are admitted; each ends at once. */
  const attach = (userId: string, machineCount: number | undefined, attempts: number, now: number): number => {
    const caller = { userId, ...(machineCount === undefined ? {} : { machineCount }) };
    let admitted = 0;
    for (let attempt = 0; attempt < attempts; attempt += 1)
      try {
        loads.begin(caller, connection, now, true);
        loads.end(caller, 0);
        admitted += 1;
      } catch (error) {
        t.like(error, { code: 'MUT_MACHINE_QUOTA' });
        t.regex(
          String(error),
          /attaches more often than the \d+ times a minute of the quota "machine-attaches-per-minute"/,
        );
      }
    return admitted;
  };
  t.is(attach('machine lab/pc', 1, 10, 0), 6);
  t.is(attach('machine lab/other', 1, 3, 0), 3, 'each machine has its own');
  t.is(attach('machine lab/pc', 1, 10, 20_000), 2, 'a third of a minute brings a third of the attempts');
  t.is(attach('request alpha/q1', 4, 100, 0), 24);
  t.is(attach('ana', undefined, 100, 0), 100, 'users do not attach');
  for (let call = 0; call < 20; call += 1)
    t.notThrows(() => {
      loads.begin({ userId: 'machine lab/pc', machineCount: 1 }, connection, 20_000);
    }, 'other calls are not counted');
  t.deepEqual(
    loads.machineUses().find(({ name }) => name === 'machine-attaches-per-minute'),
    { name: 'machine-attaches-per-minute', used: 0, allowed: 6 },
  );
});
