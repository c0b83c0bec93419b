// A provider over a Slurm that hangs, lies and breaks its word, by faked commands.
import type { Reason } from '@mutirao/api/common';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { RequestStatus } from '@mutirao/api/provider';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { callUnary } from '@mutirao/runtime/rpc';
import { FakeSlurm, FakeBroker, Program, temporaryFolder, until } from '@mutirao/testkit';

const agent = fileURLToPath(new URL('../../packages/testkit/src/grid/fake-agent.ts', import.meta.url));
const { username } = userInfo();

/** A provider over faked commands, and a faked broker. */
class Site {
  readonly slurm: FakeSlurm;
  readonly provider: Program;
  readonly broker: FakeBroker;

  private constructor(slurm: FakeSlurm, provider: Program, broker: FakeBroker) {
    this.slurm = slurm;
    this.provider = provider;
    this.broker = broker;
  }

  static async start(
    t: ExecutionContext,
    prepare: (slurm: FakeSlurm) => void,
    ...args: readonly string[]
  ): Promise<Site> {
    const home = temporaryFolder(t);
    const slurm = new FakeSlurm(join(home, 'bin'), username);
    prepare(slurm);
    const provider = new Program(
      'provider',
      [
        '--home',
        home,
        '--id',
        'site',
        '--manager',
        'slurm',
        '--queue-interval',
        '150ms',
        '--manager-deadline',
        '1s',
        '--requests-max',
        '2',
        '--agent-command',
        JSON.stringify([process.execPath, agent]),
        '--refusal-pause',
        '50ms',
        '--refusals-max',
        '4',
        '--idle-release',
        '200ms',
        // Whatever the answers, it is known what is asked for: as many requests as there may be.
        '--heuristic',
        'static',
        ...args,
      ],
      { PATH: slurm.path },
    );
    await provider.start();
    const broker = new FakeBroker('b1', provider.address, readToken(tokenPath(home)));
    broker.connect();
    t.teardown(async () => {
      broker.demand(0); // So that agents are sent away.
      await until(() => broker.machines().length === 0, 'the machines go').catch(() => undefined);
      broker.close();
      await provider.kill('SIGTERM');
    });
    await until(() => broker.received('settled').length > 0, 'the provider settles');
    return new Site(slurm, provider, broker);
  }

  async requests(): Promise<{ readonly status: RequestStatus; readonly reasons: readonly Reason[] }[]> {
    return (await callUnary(this.broker.client, 'listRequests', {}, { deadlineMs: 60_000 })).requests;
  }

  async why(): Promise<string> {
    return (await callUnary(this.broker.client, 'getResource', {}, { deadlineMs: 60_000 })).reasons
      .map(({ text }) => text)
      .join(' ');
  }

  async untilWhy(words: RegExp): Promise<void> {
    await until(async () => words.test(await this.why()), `the provider says ${words}`);
  }

  async untilStatus(status: RequestStatus, count: number): Promise<void> {
    await until(
      async () => (await this.requests()).filter((request) => request.status === status).length === count,
      `${count} requests have status ${status}`,
    );
  }

  /** Waits for `count` readings of the queue that begin now or later. */
  async readings(count: number): Promise<void> {
    const begun = (): number => this.slurm.calls('squeue').filter((call) => !call.includes('--user')).length;
    const before = begun();
    await until(() => begun() > before + count, `${count} readings of the queue`);
  }
}

test('what is taken and never starts holds its slots, and no more is asked for', async (t) => {
  const site = await Site.start(t, () => undefined);
  site.broker.demand(8);
  await site.untilStatus(RequestStatus.QUEUED, 2);
  await site.readings(5);
  t.is(site.slurm.jobs().length, 2);
  t.regex(await site.why(), /2 requests? (?:are|of)|pending|slot/);
});

test("a request that can never start is cancelled and reported with Slurm's reason, and made again ever less often", async (t) => {
  const site = await Site.start(t, (slurm) => {
    slurm.takeJobs('sed -i "s/None/QOSMaxCpuPerJobLimit/" jobs/$id');
  });
  site.broker.demand(8);
  await site.untilWhy(/Requests paused for (?:59|60|1 h).*ended without a machine/);
  const [first] = await site.requests();
  t.regex(first?.reasons.map(({ text }) => text).join(' ') ?? '', /it can never start: QOSMaxCpuPerJobLimit/);
  await until(() => site.slurm.jobs().every(({ state }) => state === 'CANCELLED'), 'all are cancelled');
  t.true(site.slurm.jobs().length <= 5, `${site.slurm.jobs().length} jobs`);
});

test('what is started and killed at once is not asked for without end', async (t) => {
  const ended =
    'sed -i ' +
    '"s#PENDING|\\([^|]*\\)|N/A|N/A|None#FAILED|\\1|2026-11-20T12:00:00|2026-11-20T12:00:00|NonZeroExitCode#" ' +
    'jobs/$id';
  const site = await Site.start(t, (slurm) => {
    slurm.takeJobs(ended);
  });
  site.broker.demand(8);
  await site.untilWhy(/Requests paused for (?:59|60|1 h).*failures in a row \(0 refused, [45] ended without a machine/);
  const count = site.slurm.jobs().length;
  await site.readings(4);
  t.is(site.slurm.jobs().length, count);
  t.true(count <= 5, `${count} jobs`);
  site.broker.demand(0);
  site.broker.demand(8);
  await until(() => site.slurm.jobs().length > count, 'new demand is tried for');
});

test('while the queue cannot be read all stays as it was, and two good listings without a request end it', async (t) => {
  const site = await Site.start(t, () => undefined);
  site.broker.demand(8);
  await site.untilStatus(RequestStatus.QUEUED, 2);
  const [job] = site.slurm.jobs();
  const half = `1|${username}|4|60:00|PENDING|2026-11-20T18:`;
  for (const [answer, words] of [
    [
      'echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" >&2; exit 1',
      /Unable to contact/,
    ],
    [`printf '${half}'`, /did not print jobs/],
    ['echo "Welcome to the cluster! Maintenance on Friday."', /Welcome/],
    ['exec sleep 60', /did not end within 1 s/],
    ['kill -9 $$', /was killed/],
  ] as const) {
    site.slurm.act('squeue', answer);
    await site.untilWhy(words);
  }
  await site.readings(1);
  t.deepEqual(
    (await site.requests()).map(({ status }) => status),
    [RequestStatus.QUEUED, RequestStatus.QUEUED],
  );
  t.is(site.slurm.calls('sbatch').length, 2);
  site.slurm.listJobs();
  await site.readings(3);
  t.deepEqual(
    (await site.requests()).map(({ status }) => status),
    [RequestStatus.QUEUED, RequestStatus.QUEUED],
  );
  // The manager forgets one: as after its MinJobAge, with the provider away for longer.
  site.slurm.act(
    'squeue',
    `grep -v '^${job?.id ?? ''}|' ${site.slurm.folder}/jobs/* -h | case "$*" in *--user=*) cat;; *) cut -d '|' ` +
      '-f 1-9;; esac',
  );
  await site.untilStatus(RequestStatus.VANISHED, 1);
  t.true((await site.requests()).some(({ reasons }) => reasons.some(({ code }) => code === 'vanished-from-listings')));
  site.slurm.listJobs();
  await until(
    () => site.slurm.jobs().every(({ id, state }) => id !== job?.id || state === 'CANCELLED' || state === 'PENDING'),
    'it is dealt with',
  );
});

test('a submission that is taken and answered too late is found by its key, and there is one job of each', async (t) => {
  const site = await Site.start(t, (slurm) => {
    slurm.takeJobs('exec sleep 60');
  });
  site.broker.demand(8);
  await until(() => site.slurm.jobs().length >= 1, 'a job is taken');
  await site.untilStatus(RequestStatus.QUEUED, 2);
  const names = site.slurm.jobs().map(({ name }) => name);
  t.is(new Set(names).size, names.length);
  t.is(names.length, 2);
});

test('a controller whose clock is an hour off, either way, changes nothing', async (t) => {
  for (const sign of ['', '-']) {
    const clock = `TZ=UTC date -d '${sign}1 hour' +%FT%T`;
    // It starts each job at once and really runs it; all instants are by its own clock. It answers once the job has a
    // session of its own:
    // before that it would be ended with what is left of the call.
    const start =
      `now=$(${clock}); end=$(TZ=UTC date -d "$now UTC 60 min" +%FT%T); sed -i ` +
      '"s#PENDING|[^|]*|N/A|N/A#RUNNING|$now|$now|$end#" jobs/$id; mkfifo "$script.begun"; setsid --fork sh -c ' +
      `'echo >"$1.begun"; exec sh "$1"' job "$script" >/dev/null 2>&1; read line <"$script.begun"`;
    const site = await Site.start(t, (slurm) => {
      slurm.takeJobs(start);
      slurm.act(
        'scontrol',
        `case "$*" in *config*) echo "Configuration data as of $(${clock})";; *) echo 'PartitionName=main ` +
          `Default=YES MaxNodes=UNLIMITED MaxTime=01:00:00';; esac`,
      );
      slurm.act(
        'srun',
        'while [ "${1#--}" != "$1" ]; do shift; done; for n in 0 1 2 3; do SLURM_PROCID=$n "$@" & done; wait',
      );
    });
    site.broker.demand(8);
    await until(() => site.broker.machines().length === 8, 'eight machines join');
    await site.readings(3);
    t.is(site.broker.machines().length, 8);
    t.deepEqual(
      (await site.requests()).map(({ status }) => status),
      [RequestStatus.RUNNING, RequestStatus.RUNNING],
    );
    site.broker.start(site.broker.machines()[0]?.facts?.machineId ?? '', [1]);
    await until(() => site.broker.ended().includes(1), 'a replica ends');
  }
});

test('words after -- go to each submission as they are, with their spaces', async (t) => {
  const site = await Site.start(
    t,
    (slurm) => {
      slurm.takeJobs('printf "%s\\n" "$@" >words');
    },
    '--slurm-flags',
    '--mem=1G --nice',
    '--',
    '--comment=two words',
    '--constraint=[a|b]*',
  );
  site.broker.demand(2);
  await site.untilStatus(RequestStatus.QUEUED, 2);
  const words = readFileSync(join(site.slurm.folder, 'words'), 'utf8').split('\n');
  for (const word of ['--mem=1G', '--nice', '--comment=two words', '--constraint=[a|b]*'])
    t.true(words.includes(word), word);
});
