// What one user, and one machine, may have of the spool that all share.
import { DatabaseSync } from 'node:sqlite';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { parseQuotas, type QuotaRules } from '@mutirao/core/quotas';
import { quietLogger } from '@mutirao/runtime/log';
import { temporaryFolder } from '@mutirao/testkit';
import { SpoolQuota, type SpoolQuotaOptions } from '../../../src/standby/spool-quota.ts';
import { OutputSpool, type SpooledOutput } from '../../../src/spool/output-spool.ts';

function aSpool(t: ExecutionContext): OutputSpool {
  return new OutputSpool({
    folder: join(temporaryFolder(t), 'spool'),
    database: new DatabaseSync(':memory:'),
    bytesMax: 1000,
    reserveBytes: 0,
    freeBytes: () => Infinity,
    clock: { now: () => 1 },
    log: quietLogger,
  });
}

function getOutput(machineId: string, name: string, data: Buffer): SpooledOutput {
  const content = { sha256: createHash('sha256').update(data).digest('hex'), size: data.length };
  return { transferId: `${machineId} ${name}`, brokerId: 'b', machineId, content };
}

async function* of(data: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(data);
}

test('one machine has its share of the spool, arriving outputs included, and the others have space of their own', async (t) => {
  const outputs = aSpool(t);
  const state = {
    brokers: new Map([['b', { brokerId: 'b' }]]),
    kept: new Map(),
  } as unknown as SpoolQuotaOptions['state'];
  const quotas = parseQuotas(['machine-spool-bytes=300', 'machine-report-bytes=50'], 'ana') as QuotaRules;
  const quota = new SpoolQuota({ state, outputs, ownerId: 'ana', quotas });
  const data = Buffer.alloc(200, 1);
  const gate = Promise.withResolvers<void>();
  const arriving = outputs.keep(
    getOutput('p/hostile', 'first', data),
    (async function* () {
      await gate.promise;
      yield data;
    })(),
  );
  const refused = {
    code: 'MUT_SPOOL_FULL',
    message:
      /^machine p\/hostile: the quota "machine-spool-bytes" .* is 300 B; 200 B are used, and 101 B more .*--quota$/,
  };
  t.throws(() => {
    quota.demand('b', 'p/hostile', 101);
  }, refused);
  gate.resolve();
  await arriving;
  t.throws(() => {
    quota.demand('b', 'p/hostile', 101);
  }, refused);
  t.notThrows(() => {
    quota.demand('b', 'p/hostile', 100);
    quota.demand('b', 'p/honest', 300);
  });
  await outputs.keep(getOutput('p/honest', 'its', Buffer.alloc(250, 2)), of(Buffer.alloc(250, 2)));
  t.deepEqual(quota.machineUses(), [
    { name: 'machine-spool-bytes', used: 250, allowed: 300 },
    { name: 'machine-report-bytes', used: 0, allowed: 50 },
  ]);
  outputs.remove(['p/hostile first']);
  t.notThrows(() => {
    quota.demand('b', 'p/hostile', 300);
  });
});

test("a machine's reports are counted from what the provider keeps, and again when some were forgotten", (t) => {
  const state = {
    brokers: new Map([['b', { brokerId: 'b' }]]),
    kept: new Map(),
  } as unknown as SpoolQuotaOptions['state'];
  const quotas = parseQuotas(['machine-report-bytes=100'], 'ana') as QuotaRules;
  const quota = new SpoolQuota({ state, outputs: aSpool(t), ownerId: 'ana', quotas });
  t.is(quota.findReportExcess('p/m', 0, 100), undefined);
  quota.noteReport('p/m', 60);
  t.is(quota.findReportExcess('p/m', 0, 40), undefined);
  t.regex(
    quota.findReportExcess('p/m', 10, 40) ?? '',
    /machine p\/m: .*"machine-report-bytes".* is 100 B; 70 B are used/,
  );
  t.is(quota.findReportExcess('p/other', 0, 100), undefined);
  t.like(quota.machineUses()[1], { used: 0 }, 'only of machines that the state knows');
  quota.recountReports('p/m');
  t.is(quota.findReportExcess('p/m', 0, 100), undefined);
  const kept = [{ sequence: 1, endedReplicaIds: [], bytes: 30 }];
  (state.kept as Map<string, unknown>).set('p/m i', { facts: { machineId: 'p/m' }, reports: kept });
  quota.recountReports('p/m');
  t.is(quota.findReportExcess('p/m', 0, 70), undefined);
  t.truthy(quota.findReportExcess('p/m', 0, 71));
  t.like(quota.machineUses()[1], { used: 30 });
});
