import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { FakeCommands, temporaryFolder } from '@mutirao/testkit';
import { CommandsManager, readManagerFile, type AllocationOrder, type CommandsOptions } from '@mutirao/managers';

const file = fileURLToPath(new URL('../../../../../examples/managers/openpbs.json', import.meta.url));

/** Faked commands of OpenPBS, and the adapter with the example's templates. */
class FakePbs extends FakeCommands {
  readonly manager: CommandsManager;

  constructor(t: ExecutionContext, more: Partial<CommandsOptions> = {}) {
    super(temporaryFolder(t));
    for (const command of ['qsub', 'qdel', 'qstat', 'pbsnodes', 'pbsdsh']) this.say(command, '');
    this.say(
      'pbsnodes',
      'n1\n     Mom = n1\n     resources_available.ncpus = 8\n     resources_assigned.ncpus = 3\nn2\n     ' +
        'resources_available.ncpus = 8\n',
    );
    this.manager = new CommandsManager({
      templates: readManagerFile(file),
      user: 'ana',
      flags: [],
      requestsMax: 9,
      walltimeMax: 0,
      jobFolder: join(this.folder, 'jobs'),
      deadlineMs: 10_000,
      environment: { PATH: this.path, MUTIRAO_HOME: '/secret' },
      now: () => 1_000_000,
      ...more,
    });
    t.teardown(() => {
      this.manager.close();
    });
  }
}

const order: AllocationOrder = {
  userId: 'ana',
  width: 4,
  walltime: 3_660_000,
  command: ['/opt/a b/node', "it's.ts", '$(rm -rf x)'],
  environment: { MUTIRAO_CREDENTIAL: 'se\'cr"et\n$x' },
  workingDirectory: '',
  clientRequestId: 'inst.q1',
};
/** Midnight of 2026-11-20. */
const day = 1_795_132_800_000;
const job = (state: string, key: string, more: object = {}): object => ({
  Job_Name: key,
  Job_Owner: 'ana@front',
  job_state: state,
  qtime: 'Fri Nov 20 20:18:49 2026',
  Resource_List: { ncpus: 4, walltime: '01:01:00' },
  ...more,
});
const listing = (jobs: object): string => JSON.stringify({ timestamp: 1, pbs_version: '23', Jobs: jobs });

test('an order fills the templates, its flags may hold spaces, and its secrets are on no command line', async (t) => {
  const pbs = new FakePbs(t, { flags: ['-l', 'place=free group', '-A', 'proj'] });
  pbs.act(
    'qsub',
    `cat >'${pbs.folder}/script'; printf '%s|' "$@" >'${pbs.folder}/args'; env >'${pbs.folder}/env'; echo '1234.front'`,
  );
  t.is(await pbs.manager.allocate(order), '1234.front');
  const args = readFileSync(join(pbs.folder, 'args'), 'utf8');
  t.is(
    args,
    `-N|inst.q1|-l|select=4:ncpus=1|-l|walltime=01:01:00|-r|n|-j|oe|-o|${pbs.folder}/jobs/inst.q1.log|-l|place=free ` +
      'group|-A|proj|',
  );
  t.false(readFileSync(join(pbs.folder, 'env'), 'utf8').includes('MUTIRAO'));
});

test('the script starts each process with its place, its environment and its words as they are', async (t) => {
  const pbs = new FakePbs(t);
  pbs.act('pbsdsh', 'shift; PBS_NODENUM=3 exec env -u MUTIRAO_CREDENTIAL "$@"'); // It passes no environment on.
  pbs.act(
    'show',
    `printf '%s|' "$@" "$MUTIRAO_CREDENTIAL" "$MUTIRAO_PROCESS_INDEX" "$MUTIRAO_PROCESS_COUNT" >'${pbs.folder}/shown'`,
  );
  pbs.act('qsub', 'sh; echo 17');
  await pbs.manager.allocate({ ...order, command: [join(pbs.folder, 'show'), ...order.command] });
  t.is(readFileSync(join(pbs.folder, 'shown'), 'utf8'), "/opt/a b/node|it's.ts|$(rm -rf x)|se'cr\"et\n$x|3|4|");
});

test('the queue is read from JSON, also of jobs without a walltime, and free processors are what nothing runs on', async (t) => {
  const pbs = new FakePbs(t);
  pbs.say(
    'qstat',
    listing({
      '2.front': job('R', 'inst.q1', { stime: 'Fri Nov 20 20:19:00 2026' }),
      '1.front': job('Q', 'theirs', {
        Job_Owner: 'eve@front',
        Resource_List: { ncpus: 16 },
        qtime: 'Fri Nov 20 20:00:00 2026',
      }),
      '0.front': job('F', 'inst.q0', { mtime: 'Fri Nov 20 20:10:00 2026', comment: 'Job run at 20:05 and failed' }),
    }),
  );
  const { processorsFree, requests } = await pbs.manager.queue(5);
  t.is(processorsFree, 12);
  t.deepEqual(
    requests.map(({ managerRequestId, status, width }) => [managerRequestId, status, width]),
    [
      ['1.front', 'queued', 16],
      ['2.front', 'running', 4],
      ['0.front', 'ended', 4],
    ],
  );
  t.like(requests[1], { startsAt: day + (20 * 60 + 19) * 60_000, walltime: 3_660_000, clientRequestId: 'inst.q1' });
  t.like(requests[2], { endedAt: day + (20 * 60 + 10) * 60_000, endReason: 'Job run at 20:05 and failed' });
  pbs.say('qstat', '{ "timestamp": 1 }');
  t.deepEqual((await pbs.manager.queue(5)).requests, []);
});

test('a listing that fails, is cut or makes no sense is out of reach, never an empty queue', async (t) => {
  const pbs = new FakePbs(t);
  const unreachable = async (message: RegExp, { manager } = pbs): Promise<void> => {
    await t.throwsAsync(manager.queue(5), { code: 'MUT_UNREACHABLE', message });
  };
  pbs.say('qstat', listing({ '1.front': job('Q', 'inst.q1') }).slice(0, 60));
  await unreachable(/qstat did not print a queue: no JSON/);
  pbs.say('qstat', listing({ '1.front': job('Z', 'inst.q1') }));
  await unreachable(/state "Z", which "states" does not have/);
  pbs.say('qstat', listing({ '1.front': job('Q', 'inst.q1', { Resource_List: { walltime: '01:00:00' } }) }));
  await unreachable(/width ""/);
  pbs.act('qstat', 'echo "qstat: cannot connect to server front (errno=111)" >&2; exit 111');
  await unreachable(/status 111 of qstat: .*cannot connect/);
  const hasty = new FakePbs(t, { deadlineMs: 1_000 });
  hasty.act('qstat', 'exec sleep 60');
  await unreachable(/did not end within 1 s/, hasty);
});

test('a width that is refused as such is halved for the time to come, and tried again hours later; --width-max bounds all', async (t) => {
  let now = 1_772_366_400_000;
  const pbs = new FakePbs(t, { now: () => now });
  const { manager } = pbs;
  pbs.act('qsub', 'echo "qsub: Job exceeds queue and/or server resource limits: Resource_List.ncpus" >&2; exit 188');
  t.is((await manager.limits()).widthMax, 16);
  t.false(manager.hasNewLimits);
  await t.throwsAsync(manager.allocate({ ...order, width: 16 }), { code: 'MUT_WIDTH_MAX' });
  t.true(manager.hasNewLimits);
  t.like(await manager.limits(), { processors: 16, widthMax: 8 });
  t.false(manager.hasNewLimits);
  pbs.act('qsub', 'echo "qsub: Unauthorized Request" >&2; exit 159');
  await t.throwsAsync(manager.allocate({ ...order, width: 8, clientRequestId: 'inst.q2' }), {
    code: 'MUT_BAD_REQUEST',
  });
  t.is((await manager.limits()).widthMax, 8, 'only a refusal of the width counts');
  now += 7 * 3_600_000;
  t.is((await manager.limits()).widthMax, 16);
  pbs.act('qsub', 'echo "qsub: Job exceeds queue and/or server resource limits: Resource_List.ncpus" >&2; exit 188');
  await t.throwsAsync(manager.allocate({ ...order, width: 16, clientRequestId: 'inst.q3' }), { code: 'MUT_WIDTH_MAX' });
  t.is((await manager.limits()).widthMax, 8);
  now -= 30 * 24 * 3_600_000;
  t.is(
    (await manager.limits()).widthMax,
    16,
    'a clock that was far ahead and is set right keeps nothing for as long as it was ahead',
  );
  t.is((await new FakePbs(t, { widthMax: 6 }).manager.limits()).widthMax, 6);
});

test('what is refused has the code that the templates say, and what was unclear is looked for before it is asked for again', async (t) => {
  const pbs = new FakePbs(t);
  const { manager } = pbs;
  let number = 0;
  const refused = async (shell: string, code: string): Promise<void> => {
    pbs.act('qsub', shell);
    number += 1;
    await t.throwsAsync(manager.allocate({ ...order, clientRequestId: `inst.r${number}` }), { code });
  };
  await refused('echo "qsub: Job exceeds queue and/or server resource limits" >&2; exit 188', 'MUT_WIDTH_MAX');
  await refused(
    "echo \"qsub: would exceed queue generic's per-user limit of jobs in 'Q' state\" >&2; exit 38",
    'MUT_REQUESTS_MAX',
  );
  await refused('echo "qsub: Unknown queue" >&2; exit 170', 'MUT_BAD_REQUEST');
  await refused('kill -9 $$', 'MUT_UNREACHABLE');
  await refused('echo "qsub: Bad UID for job execution" >&2; exit 23', 'MUT_BAD_REQUEST');
  await refused('echo "Connection refused" >&2; exit 111', 'MUT_UNREACHABLE');
  await refused('echo Welcome', 'MUT_UNREACHABLE');
  const calls = pbs.calls('qsub').length;
  pbs.say('qstat', listing({ '7.front': job('Q', `inst.r${number}`) }));
  t.is(await manager.allocate({ ...order, clientRequestId: `inst.r${number}` }), '7.front');
  t.is(pbs.calls('qsub').length, calls);
});

test('cancels go in one call, one that is over counts as done, and limits are read and added up', async (t) => {
  const pbs = new FakePbs(t);
  await Promise.all(['1.front', '2.front', '-W', 'two words'].map((id) => pbs.manager.release(id)));
  t.deepEqual(pbs.calls('qdel'), ['1.front 2.front']);
  pbs.act('qdel', 'echo "qdel: Unknown Job Id 1.front" >&2; exit 153');
  await pbs.manager.release('1.front');
  pbs.act('qdel', 'echo "qdel: Unauthorized Request 1.front" >&2; exit 159');
  await t.throwsAsync(pbs.manager.release('1.front'), { code: 'MUT_UNREACHABLE', message: /Unauthorized/ });
  t.deepEqual(await pbs.manager.limits(), {
    processors: 16,
    widthMax: 16,
    requestsMax: 4,
    walltimeMax: 86_400_000,
    walltimeGranularity: 60_000,
  });
  pbs.say('pbsnodes', 'no idea\n');
  await t.throwsAsync(pbs.manager.limits(), {
    code: 'MUT_UNREACHABLE',
    message: /"limits.processors.pattern" finds no processors in: no idea/,
  });
});

test('an order that was taken twice keeps one request', async (t) => {
  const pbs = new FakePbs(t);
  pbs.say('qsub', '8.front\n');
  await pbs.manager.allocate(order);
  pbs.say('qstat', listing({ '7.front': job('Q', 'inst.q1'), '8.front': job('Q', 'inst.q1') }));
  t.deepEqual(
    (await pbs.manager.queue(5)).requests.map(({ managerRequestId }) => managerRequestId),
    ['7.front'],
  );
  await pbs.manager.release('9.front');
  t.true(pbs.calls('qdel').join(' ').includes('8.front'));
});

test('files of a job that has waited for long are kept, those of old jobs that are over are not', async (t) => {
  const pbs = new FakePbs(t);
  pbs.say('qsub', '200.front\n');
  for (let number = 0; number < 120; number += 1) {
    const path = join(pbs.folder, 'jobs', `inst.o${number}.process`);
    writeFileSync(path, '');
    utimesSync(path, number, number);
  }
  const left = (number: number): boolean => existsSync(join(pbs.folder, 'jobs', `inst.o${number}.process`));
  await pbs.manager.allocate({ ...order, clientRequestId: 'inst.q1' });
  t.true(left(1), 'something went before the queue was known');
  pbs.say('qstat', listing({ '1.front': job('Q', 'inst.o0') }));
  await pbs.manager.queue(5);
  await pbs.manager.allocate({ ...order, clientRequestId: 'inst.q2' });
  t.deepEqual([0, 1, 119].map(left), [true, false, true]);
});
