// Credentials of machines with real processes: an invitation works once, for one name; what a task can find on its
// machine gets nobody another machine; a removed machine is out at once.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { auditPath } from '@mutirao/runtime/audit';
import {
  Grid,
  HostileMachine,
  inviteMachine,
  removeMachine,
  taskGroup,
  temporaryFolder,
  until,
  type Program,
} from '@mutirao/testkit';

/** A machine with a home folder of its own, as one on another host has. */
interface FarMachine {
  readonly home: string;
  readonly agent: Program;
  readonly invitation: string;
}

/** A grid whose lab has a machine of the grid's own home folder. */
async function startGrid(t: ExecutionContext): Promise<Grid> {
  const grid = await Grid.start({ machines: [1] });
  t.teardown(() => grid.stop());
  await grid.client.waitMachines(1);
  return grid;
}

/** Has a machine join with an invitation that it reads from a file. */
async function joinWith(t: ExecutionContext, grid: Grid, name: string): Promise<FarMachine> {
  const home = temporaryFolder(t);
  const invitation = await inviteMachine(grid.home, 'lab', name);
  writeFileSync(join(home, 'invitation'), `${invitation}\n`, { mode: 0o600 });
  const agent = await grid.startMachine(name, {
    processors: 1,
    args: ['--home', home, '--invitation', join(home, 'invitation'), '--attribute', `far=${name}`],
    env: { MUTIRAO_HOME: home },
  });
  await untilThere(grid, `lab/${name}`, true);
  return { home, agent, invitation };
}

async function untilThere(grid: Grid, machineId: string, isThere: boolean): Promise<void> {
  await until(
    async () => (await grid.client.machines()).some(({ facts }) => facts?.machineId === machineId) === isThere,
    `${machineId} is ${isThere ? 'there' : 'gone'}`,
  );
}

/** What becomes of somebody who shows these words under a name: the code, or nothing when it was let in. */
async function knock(
  t: ExecutionContext,
  grid: Grid,
  name: string,
  words: { readonly given: string; readonly secret: string },
): Promise<string | undefined> {
  const machine = new HostileMachine(name, grid.providers.at(-1)?.agentsAddress ?? '', words);
  t.teardown(() => {
    machine.close();
  });
  machine.attach();
  await until(() => machine.refusals.length > 0 || machine.received('hello').length > 0, 'the provider answers');
  const code = machine.refusals[0];
  machine.close();
  return code;
}

function getCredential({ home }: FarMachine, name: string): string {
  return readFileSync(join(home, 'credentials', `lab_${name}`), 'utf8').trim();
}

/** What the audit log of the lab says of one action, without its time. */
function getAudited(grid: Grid, action: string): Record<string, unknown>[] {
  const lines = readFileSync(auditPath(grid.home, 'provider-lab'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return lines
    .filter((line) => line['action'] === action)
    .map(({ time: _time, action: _action, from: _from, detail: _detail, ...rest }) => rest);
}

const foreign = { secret: 'a-secret-that-nobody-knows' };

test.serial('an invitation works once and for its own name, and its file is gone when it was read', async (t) => {
  const grid = await startGrid(t);
  const { home, invitation } = await joinWith(t, grid, 'pc7');
  t.deepEqual(readdirSync(home).includes('invitation'), false);
  t.is(statSync(join(home, 'credentials', 'lab_pc7')).mode & 0o777, 0o600);
  t.is(statSync(join(home, 'credentials')).mode & 0o777, 0o700);
  t.is(await knock(t, grid, 'pc7', { given: invitation, ...foreign }), 'MUT_INVITATION_REFUSED');
  t.is(await knock(t, grid, 'pc8', { given: invitation, ...foreign }), 'MUT_INVITATION_REFUSED');
  t.is(await knock(t, grid, 'pc8', { given: 'invitation-guessed', ...foreign }), 'MUT_INVITATION_REFUSED');
  t.is(await knock(t, grid, 'pc8', { given: 'x', ...foreign }), 'MUT_UNAUTHENTICATED');
  t.is(
    await knock(t, grid, 'pc8', { given: await inviteMachine(grid.home, 'lab', 'pc9'), ...foreign }),
    'MUT_CREDENTIAL_NAME',
  );
  const brief = await inviteMachine(grid.home, 'lab', 'brief', 1);
  await until(
    async () => (await knock(t, grid, 'brief', { given: brief, ...foreign })) === 'MUT_INVITATION_REFUSED',
    'the invitation expires',
  );
  await grid.assertAllLive();
});

test.serial(
  "what a task finds in environments, arguments and its machine's files gets nobody a second machine, and its own machine is not taken from it",
  async (t) => {
    const grid = await startGrid(t);
    const far = await joinWith(t, grid, 'pc7');
    // All that the account can see of its agent and of the agent's files, but for what other programs of this host say.
    const hunt =
      `p=$(cat /proc/[0-9]*/status 2>/dev/null | sed -n 's/^Pid:\\t//p'); for pid in $p; do tr '\\0' '\\n' ` +
      `</proc/$pid/environ 2>/dev/null | grep -q '^MUTIRAO_HOME=${far.home}$' && cat /proc/$pid/environ ` +
      `/proc/$pid/cmdline 2>/dev/null; done; find '${far.home}' -type f -size -64k | while read -r f; do cat ` +
      '"$f"; echo; done';
    const jobId = await grid.client.submit(
      [
        taskGroup(`(${hunt}) | tr '\\0' '\\n' | grep -aoE '[A-Za-z0-9_.~-]{16,}' | sort -u`, 1, {
          requirements: 'far == pc7',
        }),
      ],
      { failuresMax: 1 },
    );
    t.is(
      (await grid.client.waitEnded(jobId)).status,
      JobStatus.FINISHED,
      await grid.client.explain({ $case: 'jobId', value: jobId }),
    );
    const words = (await grid.client.output(jobId, 0)).split('\n').filter((word) => word !== '');
    t.false(
      words.some((word) => word.includes('invitation-')),
      'no invitation can be found',
    );
    const own = getCredential(far, 'pc7');
    t.true(words.includes(own), "the hunt finds the machine's own credential");
    for (const word of words) {
      t.truthy(await knock(t, grid, 'pc8', { given: word, ...foreign }), `${word} as what pc8 was given`);
      t.truthy(await knock(t, grid, 'pc8', { given: 'x', secret: word }), `${word} as the secret of pc8`);
    }
    t.is(await knock(t, grid, 'pc7', { given: 'x', secret: own }), 'MUT_MACHINE_ATTACHED');
    t.true(
      grid.providers
        .at(-1)
        ?.log.some((line) => line.includes('lab/pc7') && line.includes('or its credential was copied')),
    );
    const attach = '/mutirao.machine.v1.GridMachineService/Attach';
    t.deepEqual(
      getAudited(grid, 'call.refuse').filter(({ refused_with: code }) => code === 'MUT_MACHINE_ATTACHED'),
      [{ who: 'machine:pc7', target: attach, refused_with: 'MUT_MACHINE_ATTACHED' }],
    );
    const after = await grid.client.submit([taskGroup('true', 3, { requirements: 'far == pc7' })]);
    t.is((await grid.client.waitEnded(after)).status, JobStatus.FINISHED);
    t.deepEqual((await grid.client.machines()).map(({ facts }) => facts?.machineId).sort(), ['lab/pc0', 'lab/pc7']);
  },
);

test.serial(
  'a machine comes back with its credential after a restart of its agent and of its provider, without another invitation',
  async (t) => {
    const grid = await startGrid(t);
    const far = await joinWith(t, grid, 'pc7');
    const credential = getCredential(far, 'pc7');
    await far.agent.crash();
    await untilThere(grid, 'lab/pc7', true);
    await grid.providers.at(-1)?.crash();
    t.is(await knock(t, grid, 'pc7', { given: far.invitation, ...foreign }), 'MUT_INVITATION_REFUSED');
    const jobId = await grid.client.submit([taskGroup('true', 3, { requirements: 'far == pc7' })]);
    t.is((await grid.client.waitEnded(jobId)).status, JobStatus.FINISHED);
    t.is(getCredential(far, 'pc7'), credential);
  },
);

test.serial(
  'a removed machine is sent away at once and does not come back, also after a restart of its provider, until it is invited again',
  async (t) => {
    const grid = await startGrid(t);
    const far = await joinWith(t, grid, 'pc7');
    await removeMachine(grid.home, 'lab', 'pc7');
    await untilThere(grid, 'lab/pc7', false);
    const who = userInfo().username;
    const isOfFar = ({ target }: Record<string, unknown>): boolean => String(target).includes('pc7');
    t.deepEqual(getAudited(grid, 'credential.issue').filter(isOfFar), [
      { who, target: 'machine pc7' },
      { who: 'invited:pc7', target: 'machine pc7' },
    ]);
    t.deepEqual(getAudited(grid, 'credential.use').filter(isOfFar)[0], {
      who: 'invited:pc7',
      target: 'machine lab/pc7',
    });
    t.deepEqual(getAudited(grid, 'credential.revoke'), [{ who, target: 'machine pc7' }]);
    t.deepEqual(getAudited(grid, 'machine.remove'), [{ who, target: 'machine pc7' }]);
    await until(() => far.agent.log.some((line) => line.includes('MUT_MACHINE_REMOVED')), 'the agent says why it ends');
    const credential = getCredential(far, 'pc7');
    t.is(await knock(t, grid, 'pc7', { given: 'x', secret: credential }), 'MUT_MACHINE_REMOVED');
    await grid.providers.at(-1)?.crash();
    t.is(await knock(t, grid, 'pc7', { given: far.invitation, secret: credential }), 'MUT_MACHINE_REMOVED');
    await joinWith(t, grid, 'pc7');
    const jobId = await grid.client.submit([taskGroup('true', 1, { requirements: 'far == pc7' })]);
    t.is((await grid.client.waitEnded(jobId)).status, JobStatus.FINISHED);
  },
);

test.serial(
  "an agent of the provider's own home folder needs no invitation, and is not let back in when it was removed",
  async (t) => {
    const grid = await startGrid(t);
    const [agent] = grid.agents;
    await removeMachine(grid.home, 'lab', 'pc0');
    await until(
      () => agent?.log.some((line) => line.includes('MUT_MACHINE_REMOVED')) === true,
      'the agent says why it ends',
    );
    const before = agent?.log.length ?? 0;
    await agent?.start();
    await until(
      () => agent?.log.slice(before).some((line) => line.includes('MUT_MACHINE_REMOVED')) === true,
      'it is refused again',
    );
    t.deepEqual(await grid.client.machines(), []);
  },
);

test.serial('an agent without an invitation or a credential says what it needs', async (t) => {
  const grid = await startGrid(t);
  const home = temporaryFolder(t);
  const agent = await grid.startMachine('pc7', { processors: 1, args: ['--home', home], env: { MUTIRAO_HOME: home } });
  await until(() => agent.log.some((line) => line.includes('MUT_UNAUTHENTICATED')), 'the agent ends');
  t.true(
    agent.log.some((line) => line.includes('mutirao machine invite pc7')),
    agent.log.join('\n'),
  );
});

test.serial(
  "a second agent with the name and the home folder of one that runs ends before it touches that one's files",
  async (t) => {
    const grid = await startGrid(t);
    const jobId = await grid.client.submit(
      [taskGroup('touch begun; while [ ! -e end ]; do sleep 0.05; done; echo whole >out', 1)],
      { failuresMax: 1 },
    );
    const folder = join(grid.home, 'agents');
    const playpens = (): string[] =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('/begun'));
    await until(() => playpens().length === 1, 'the task has begun');
    const second = await grid.startMachine('pc0', { processors: 1 });
    await until(
      () => second.log.some((line) => line.includes('MUT_ALREADY_RUNNING')),
      'the second agent says why it ends',
    );
    const [begun = ''] = playpens();
    writeFileSync(join(folder, begun.replace(/begun$/, 'end')), '');
    t.is((await grid.client.waitEnded(jobId)).status, JobStatus.FINISHED);
  },
);
