import test from 'ava';
import type { MachineRecord, TrustRecord } from '@mutirao/api/broker';
import { aMachineRecord, runCommandLine, type CommandResult } from '@mutirao/testkit';

const evidence = {
  kind: 'outvoted',
  atUnixMs: 1,
  jobId: 7,
  taskIndex: 3,
  digest: 'aa',
  acceptedDigest: 'bb',
  against: ['lab/m2'],
  detail: { code: '', parameters: {}, text: 'two agreed' },
};
const quarantined: TrustRecord = {
  identity: 'h-1',
  machineId: 'lab/gone',
  passes: 3,
  credibility: 0.5,
  quarantinedUnixMs: 1_000_000,
  evidence: [evidence],
};

function show(
  machine: string,
  {
    machines = [aMachineRecord()],
    records = [quarantined],
    json = false,
  }: { machines?: MachineRecord[]; records?: TrustRecord[]; json?: boolean } = {},
): Promise<CommandResult> {
  return runCommandLine(['machine', 'show', machine, ...(json ? ['--json'] : [])], {
    now: () => 1_000_000,
    broker: { listMachines: () => Promise.resolve({ machines }), listTrust: () => Promise.resolve({ records }) },
  });
}

test('a machine is shown with what it does and where it is from', async (t) => {
  const { status, out } = await show('alpha/1.0');
  t.is(status, 0);
  t.regex(out, /^status +idle$/m);
  t.regex(out, /^request +alpha\/1$/m);
  t.regex(out, /^leaves in +1m\S*$/m);
  t.regex(out, /^replicas +0 running, 0 waiting there, 5 finished, 1 failed$/m);
  t.regex(out, /^credibility +0\.9080: no vote of it has been compared$/m);
});

test('one of a broker of before is shown without a credibility', async (t) => {
  const { out } = await show('alpha/1.0', { machines: [aMachineRecord({ credibility: undefined })] });
  t.notRegex(out, /credibility|undefined|NaN/);
});

test('one that is not here now is shown by its record, with the evidence where it was caught', async (t) => {
  for (const name of ['lab/gone', 'h-1']) {
    const { out } = await show(name);
    t.regex(out, /^machine +lab\/gone$/m);
    t.regex(out, /^status +not here now$/m);
    t.regex(out, /^credibility +0\.5000, by 3 results that others confirmed$/m);
    t.regex(out, /^quarantined +since /m);
    t.regex(out, /^evidence +.*task 3 of job 7: brought aa, taken was bb of lab\/m2; two agreed$/m);
  }
});

test('one that is here under a new name has the record of its identity', async (t) => {
  const { facts } = aMachineRecord();
  const machines = [aMachineRecord({ facts: { ...facts!, machineId: 'lab/new', identity: 'h-1' } })];
  const { out } = await show('lab/new', { machines, json: true });
  t.like(JSON.parse(out), {
    machine_id: 'lab/new',
    machine: { finished_count: 5 },
    trust: { passes: 3, machine_id: 'lab/gone' },
  });
});

test('a name that nothing is known of is refused with the nearest one', async (t) => {
  const near = await show('alpha/1.1');
  t.is(near.status, 2);
  t.regex(near.err, /MUT_NOT_FOUND.*machine alpha\/1\.1; did you mean "alpha\/1\.0"\?/);
  t.regex((await show('zzzzzzzzzzzz')).err, /see "mutirao machine list"/);
});

test('what is not here and never was compared is null in JSON', async (t) => {
  t.like(JSON.parse((await show('lab/gone', { json: true })).out), { machine: null, trust: { identity: 'h-1' } });
  t.like(JSON.parse((await show('alpha/1.0', { json: true })).out), {
    machine: { machine_id: 'alpha/1.0' },
    trust: null,
  });
});
